import fc from 'fast-check';
import type { IntentWrite, JournalKey, JournalWrite, Store } from '../../../store';
import {
  LARGE_MS,
  eachWithStore,
  fence,
  finishAll,
  flush,
  intent,
  openUnit,
  resultOf,
  start,
  submit,
  type Open,
} from './kit';

export function journalConformance(open: Open): void {
  describe('the journal', () => {
    intents(open);
    facts(open);
    renewal(open);
    together(open);
  });
}

const STORED = { is: 'stored' };
const look = ({ rootNo, subject, call }: JournalKey): JournalWrite => ({ type: 'look', rootNo, subject, call });
const withdrawal = (write: IntentWrite, token: string | null): JournalWrite => {
  const { rootNo, subject, call } = write;
  return { type: 'withdrawn', rootNo, subject, call, token };
};
const unknown = (write: IntentWrite, remoteId: string | null): JournalWrite => {
  const { rootNo, subject, call } = write;
  return { type: 'unknown', rootNo, subject, call, remoteId };
};
const known = (state: string, more: Record<string, unknown> = {}) => ({
  is: 'known',
  entry: { state, result: undefined, argsHash: 'hash', remoteId: null, ...more },
});

async function ask(store: Store, write: JournalWrite): Promise<unknown> {
  return (await store.journal([write]))[0];
}

function intents(open: Open): void {
  const world = eachWithStore(open);

  it('stores an intent once, and tells every other try of the call that it was made', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const [one, two] = [await openUnit(store, job, 1), await openUnit(store, job, 2)];
    expect(await ask(store, look(intent(job, one, 0)))).toEqual({ is: 'absent' });
    expect(await ask(store, intent(job, one, 0))).toEqual(STORED);
    expect(await ask(store, intent(job, two, 0, { token: 'other', argsHash: 'changed' }))).toEqual(known('intent'));
    expect(await ask(store, look(intent(job, one, 0)))).toEqual(known('intent'));
    expect(await ask(store, intent(job, two, 1))).toEqual(STORED);
    expect(await ask(store, intent(job, two, 0, { call: 'refund' }))).toEqual(STORED);
  });

  it('knows an intent again by its token: the commit whose answer was lost', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    const write = intent(job, unit, 0);
    expect(await store.journal([write, write])).toEqual([STORED, STORED]);
    expect(await ask(store, write)).toEqual(STORED);
    await store.journal([resultOf(write, 7)]);
    expect(await ask(store, write)).toEqual(known('done', { result: 7 }));
  });

  it('refuses intents of a delivery that another one has taken over from, and tells it nothing', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const older = await openUnit(store, job, 1);
    await store.journal([intent(job, older, 0)]);
    const newer = await openUnit(store, job, 1, { delivery: 'second' });
    const refused = { is: 'refused' };
    expect(await store.journal([intent(job, older, 0), intent(job, older, 1), intent(job, newer, 2)])).toEqual([
      refused,
      refused,
      STORED,
    ]);
    expect(await ask(store, look(intent(job, newer, 1)))).toEqual({ is: 'absent' });
    await store.recover(job.no, 1, 1, []);
    expect(await ask(store, intent(job, newer, 1))).toEqual(refused);
    expect(await ask(store, intent(job, fence(job, 7), 1))).toEqual(refused);
    const unit = await openUnit(store, job, 2);
    await store.nextGeneration(job.no, 1);
    expect(await ask(store, intent(job, unit, 1))).toEqual(refused);
  });

  it('keeps the calls of jobs apart, also of items with one id', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 1), await submit(store, 1)];
    const [one, two] = [await openUnit(store, job, 1), await openUnit(store, other, 1)];
    const answers = await store.journal([intent(job, one, 0), resultOf(intent(job, one, 0), 1), intent(other, two, 0)]);
    expect(answers).toEqual([STORED, STORED, STORED]);
    expect(await ask(store, look(intent(other, two, 0)))).toEqual(known('intent'));
  });
}

function facts(open: Open): void {
  const world = eachWithStore(open);

  it('takes a result once, from anyone, at any time, and as it was given', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    const write = intent(job, unit, 0);
    await store.journal([write]);
    await store.nextGeneration(job.no, 1);
    const result = { nul: 'a\0b', lone: '\uDC00', deep: [1.5, null, { x: true }] };
    expect(await ask(store, resultOf(write, result))).toEqual(STORED);
    expect(await ask(store, resultOf(write, 'another'))).toEqual(known('done', { result }));
    expect(await ask(store, unknown(write, 'r'))).toEqual(known('done', { result }));
    expect(await ask(store, withdrawal(write, null))).toEqual(known('done', { result }));
    expect(await ask(store, look(write))).toEqual(known('done', { result }));
  });

  it('keeps a result of nothing as null', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const write = intent(job, await openUnit(store, job, 1), 0);
    await store.journal([write, resultOf(write, undefined)]);
    expect(await ask(store, look(write))).toEqual(known('done', { result: null }));
  });

  it('keeps that nobody knows what came of a call, until somebody does', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    const write = intent(job, unit, 0);
    await store.journal([write]);
    expect(await ask(store, unknown(write, 'remote-1'))).toEqual(STORED);
    const again = intent(job, unit, 0, { token: 'again' });
    expect(await ask(store, again)).toEqual(known('unknown', { remoteId: 'remote-1' }));
    expect(await ask(store, resultOf(write, 5))).toEqual(STORED);
    expect(await ask(store, again)).toEqual(known('done', { result: 5, remoteId: 'remote-1' }));
  });

  it('forgets an intent that was withdrawn, by its token or whichever it is', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    const write = intent(job, unit, 0);
    await store.journal([write]);
    expect(await ask(store, withdrawal(write, 'other'))).toEqual(STORED);
    expect(await ask(store, look(write))).toEqual(known('intent'));
    expect(await ask(store, withdrawal(write, write.token))).toEqual(STORED);
    expect(await ask(store, look(write))).toEqual({ is: 'absent' });
    expect(await ask(store, intent(job, unit, 0, { token: 'again' }))).toEqual(STORED);
    expect(await ask(store, withdrawal(write, null))).toEqual(STORED);
    expect(await ask(store, look(write))).toEqual({ is: 'absent' });
  });

  it('takes facts of calls that nobody intended, or of a deleted job, for noted, and writes nothing', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const write = intent(job, await openUnit(store, job, 1), 0);
    const noted = [resultOf(write, 1), unknown(write, 'r'), withdrawal(write, null)];
    expect(await store.journal(noted)).toEqual([STORED, STORED, STORED]);
    expect(await ask(store, look(write))).toEqual({ is: 'absent' });
  });

  it('drops the journal of a deleted job with its rows', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 1), await submit(store, 1)];
    const [write, kept] = [
      intent(job, await openUnit(store, job, 1), 0),
      intent(other, await openUnit(store, other, 1), 0),
    ];
    await store.journal([write, resultOf(write, 'a'), kept]);
    await finishAll(store, job, 'succeeded');
    expect(await ask(store, look(write))).toEqual(known('done', { result: 'a' }));
    await store.deleteJob(job.no);
    await store.dropUpload(job.no);
    expect(await ask(store, look(write))).toEqual({ is: 'absent' });
    expect(await ask(store, look(kept))).toEqual(known('intent'));
    expect(await ask(store, resultOf(write, 'b'))).toEqual(STORED);
    expect(await ask(store, look(write))).toEqual({ is: 'absent' });
  });
}

function renewal(open: Open): void {
  const world = eachWithStore(open);

  it('puts a renewed intent in the place of one without an answer, and never of one with a result', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    const write = intent(job, unit, 0);
    const renewed = intent(job, unit, 0, { token: 'second', renew: true });
    await store.journal([write]);
    expect(await ask(store, renewed)).toEqual(STORED);
    // The first one is no longer the one that is open.
    expect(await ask(store, withdrawal(write, write.token))).toEqual(STORED);
    expect(await ask(store, write)).toEqual(known('intent'));
    expect(await ask(store, renewed)).toEqual(STORED);
    await store.journal([unknown(write, null)]);
    expect(await ask(store, intent(job, unit, 0, { token: 'third', renew: true }))).toEqual(STORED);
    expect(await ask(store, look(write))).toEqual(known('intent'));
    await store.journal([resultOf(write, 1)]);
    expect(await ask(store, intent(job, unit, 0, { token: 'fourth', renew: true }))).toEqual(
      known('done', { result: 1 }),
    );
  });

  it('stores an intent that is to renew one that there is not', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    expect(await ask(store, intent(job, await openUnit(store, job, 1), 0, { renew: true }))).toEqual(STORED);
  });
}

/** A write of a sequence, apart from the job and the units that it is made for. */
interface Step {
  readonly type: JournalWrite['type'] | 'start';
  readonly index: number;
  readonly token: string;
  readonly renew: boolean;
  readonly seq: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('intent', 'intent', 'start', 'start', 'start', 'result', 'unknown', 'withdrawn', 'look'),
  index: fc.nat({ max: 3 }),
  token: fc.constantFrom('a', 'b'),
  renew: fc.boolean(),
  seq: fc.constantFrom(1, 1, 2, 3),
});

function together(open: Open): void {
  const world = eachWithStore(open);

  /** Unit 1 is open, unit 2 has been taken over from, unit 3 never was. */
  async function prepare(store: Store, capability: string) {
    const job = await submit(store, 4, { capability });
    await openUnit(store, job, 1);
    await openUnit(store, job, 2, { delivery: 'newer' });
    const toWrite = ({ type, index, token, renew, seq }: Step, starts: boolean): JournalWrite => {
      const more = { token, renew };
      const made = starts
        ? start(job, fence(job, seq), index, { ...more, maxOpen: 2 })
        : intent(job, fence(job, seq), index, more);
      if (type === 'intent' || type === 'start') return made;
      const { rootNo, subject, call } = made;
      if (type === 'result') return resultOf(made, `r${token}`);
      if (type === 'unknown') return { type, rootNo, subject, call, remoteId: token };
      if (type === 'withdrawn') return { type, rootNo, subject, call, token: renew ? null : token };
      return { type, rootNo, subject, call };
    };
    return { job, toWrite };
  }

  it(
    'answers many writes at once as it would one after the other',
    async () => {
      const { store } = world;
      let run = 0;
      const property = fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 16 }), async (steps) => {
        const [single, bulk] = [await prepare(store, `one@${++run}`), await prepare(store, `all@${run}`)];
        const answers: unknown[] = [];
        for (const [what, starts] of steps) {
          answers.push(await ask(store, single.toWrite(what, starts || what.type === 'start')));
        }
        const writes = steps.map(([what, starts]) => bulk.toWrite(what, starts || what.type === 'start'));
        expect(await store.journal(writes)).toEqual(answers);
        const page = { after: -1, limit: 10 };
        expect(await store.openWaitsOf(bulk.job.no, page)).toEqual(await store.openWaitsOf(single.job.no, page));
        expect(await store.openIntents(bulk.job.no)).toEqual(await store.openIntents(single.job.no));
        const views = await store.items(bulk.job, page);
        expect(views).toEqual(await store.items(single.job, page));
        expect(views.filter((view) => view.wait).length).toBeLessThanOrEqual(2);
      });
      await fc.assert(property, { numRuns: 60 });
    },
    LARGE_MS,
  );

  it('writes a thousand intents and results that come together', async () => {
    const { store } = world;
    const job = await submit(store, 1_000);
    const unit = await openUnit(store, job, 1);
    const writes = Array.from({ length: 1_000 }, (_, index) => intent(job, unit, index));
    expect(await store.journal(writes)).toEqual(writes.map(() => STORED));
    expect(await store.openIntents(job.no)).toEqual([0, 1_000]);
    const results = writes.map((write, index) => resultOf(write, { index }));
    expect(await store.journal(results)).toEqual(writes.map(() => STORED));
    expect(await ask(store, look(writes[999]!))).toEqual(known('done', { result: { index: 999 } }));
    expect(await store.openIntents(job.no)).toEqual([]);
    expect(await store.journal([])).toEqual([]);
  });

  it('goes on while the unit flushes', async () => {
    const { store } = world;
    const job = await submit(store, 50);
    const unit = await openUnit(store, job, 1);
    const writes = Array.from({ length: 50 }, (_, index) => intent(job, unit, index));
    const [answers, accepted] = await Promise.all([
      Promise.all(writes.map((write) => ask(store, write))),
      store.settle([flush(unit, { running: 50 })]),
    ]);
    expect(answers).toEqual(writes.map(() => STORED));
    expect(accepted).toEqual([true]);
  });
}
