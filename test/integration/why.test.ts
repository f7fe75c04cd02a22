import { get } from '../../api/fixtures/http';
import { whySchema, type WhyJson } from '../../api/schemas';
import { Defer, definePayload, z } from '../../contract';
import { gated } from '../support/payloads';
import { createRig, itemsOf, until, type Rig } from '../support/rig';

jest.setTimeout(90_000);

/** What an operator is told of jobs that are held up, on a real Temporal server. */
const gate = gated({ concurrency: 4 });
const later = definePayload({
  name: 'test.later',
  version: 1,
  vocabulary: [],
  input: z.unknown(),
  result: z.never(),
  run: () => {
    throw new Defer('the vendor is busy', { after: 60_000 });
  },
});
let rig: Rig;
beforeAll(async () => {
  rig = await createRig({ queue: 'activity', payloads: [gate.payload, later], idle: true });
});
afterAll(async () => {
  gate.open();
  await rig.stop();
});

const why = (id: string): Promise<WhyJson> => get(rig.url, `/v1/jobs/${id}/why`, whySchema);

/** The first answer that names the cause and satisfies `enough`. */
async function told(id: string, cause: string, enough: (answer: WhyJson) => boolean = () => true): Promise<WhyJson> {
  let answer: WhyJson | undefined;
  const found = async (): Promise<boolean> => {
    answer = await why(id);
    return answer.cause === cause && enough(answer);
  };
  await until(rig.store, found, `the cause ${cause}`);
  return answer!;
}

it('says in turn that there is no worker, which items hold its window, that it is paused, and that it ended', async () => {
  const { id } = await rig.submit('test.gate@1', itemsOf(20));
  expect((await told(id, 'no_worker')).sentence).toContain('nothing runs until one is started');
  await rig.work();
  const full = await told(id, 'window_full', ({ facts }) => facts.slowest.length > 0);
  expect(full.facts).toMatchObject({ window: 4, counts: { running: 4 }, workers: { alive: 1, withCapability: 1 } });
  expect(gate.started).toContain(full.facts.slowest[0]!.item);
  expect(full.sentence).toContain(`the slowest: ${full.facts.slowest[0]!.item} for `);
  await rig.post(`/v1/jobs/${id}/pause`);
  expect((await told(id, 'paused')).sentence).toContain('what is in flight goes on (4 items)');
  await rig.post(`/v1/jobs/${id}/resume`);
  gate.open();
  await rig.ended(id);
  expect((await why(id)).sentence).toMatch(/^It waits for nothing: it ended as succeeded \d+ s ago\.$/);
});

it('says until when and for which reasons items are parked', async () => {
  const { id } = await rig.submit('test.later@1', itemsOf(3));
  const { facts, sentence } = await told(id, 'parked');
  expect(sentence).toMatch(
    /^What is left is parked \(3 items\), the first until .* \(in \d+ s\): 3 deferred \(the vendor is busy\)\.$/,
  );
  expect(facts.parked).toMatchObject({
    total: 3,
    reasons: [{ kind: 'defer', code: 'deferred', message: 'the vendor is busy', count: 3 }],
  });
  await rig.post(`/v1/jobs/${id}/cancel`);
  await rig.ended(id);
});
