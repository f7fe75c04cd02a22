import * as ours from '../contract';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

/** A second copy of the package, as a payload's own dependencies may bring along. */
function secondCopy(): typeof ours {
  let copy: typeof ours | undefined;
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    copy = require('../contract') as typeof ours;
  });
  return copy!;
}
const theirs = secondCopy();

class Hopeless extends theirs.Reject {
  override readonly name = 'Hopeless';
  constructor() {
    super('hopeless', { code: 'hopeless' });
  }
}
const deeply = (depth: number, cause: unknown): unknown =>
  depth === 0 ? cause : new Error(`layer ${depth}`, { cause: deeply(depth - 1, cause) });

it('the copy is another one', () => {
  expect(theirs.Reject).not.toBe(ours.Reject);
  expect(new theirs.Reject('no')).not.toBeInstanceOf(ours.Reject);
});

describe.each([
  ['Reject', 'failed', () => new theirs.Reject('no', { code: 'hopeless' })],
  ['subclass of Reject', 'failed', () => new Hopeless()],
  ['Defer', 'deferred', () => new theirs.Defer('later', { after: 1_000 })],
])('a %s of another copy of the contract', (_, state, make) => {
  it.each([
    ['thrown', make],
    ['as a cause', () => new Error('wrapped', { cause: make() })],
    ['as a cause of a cause of a text-only error', () => ({ message: 'wrapped', cause: { cause: make() } })],
    ['15 causes down', () => deeply(15, make())],
  ])('%s', async (_how, thrown) => {
    const rig = await UnitRig.open(payloadOf(() => Promise.reject(thrown() as Error)));
    const [item] = await rig.items([1]);
    expect(item!.state).toBe(state);
    expect(code(item)).toBe(state === 'failed' ? 'hopeless' : 'deferred');
  });
});

it('a review of another copy is a review, and a payload of another copy runs', async () => {
  const schemas = { input: theirs.z.any(), result: theirs.z.object({ ok: theirs.z.boolean() }) };
  const payload = theirs.definePayload({
    ...{ name: 'test.copy', version: 1, vocabulary: [], ...schemas },
    run: (item) => (item.input === 'review' ? theirs.review('look') : { ok: true }),
  });
  expect(ours.isPayload(payload)).toBe(true);
  const rig = await UnitRig.open(payload);
  expect(states(await rig.items(['review', 'result']))).toEqual(['needs_review', 'succeeded']);
});

it('a cause that is cyclic holds no Reject, and ends', async () => {
  const error = new Error('round');
  Object.assign(error, { cause: error });
  const rig = await UnitRig.open(payloadOf(() => Promise.reject(error)));
  expect(states(await rig.items([1]))).toEqual(['waiting']);
});
