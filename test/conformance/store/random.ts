import fc from 'fast-check';
import { fromIndexes } from '../../../model/index-set';
import { OUTCOMES } from '../../../model/states';
import type { JobRecord, Store } from '../../../store';
import { LARGE_MS, UNIT, attempted, eachWithStore, flush, parked, reread, submit, sum, type Open } from './kit';
import { Model, type Command } from './random-model';

const ITEMS = 5;
const USED_BY = 'item-0';
const WHY = { code: 'killed', message: 'by signal' };

const index = fc.nat({ max: ITEMS - 1 });
const attempts = fc.nat({ max: 3 });
const delivery = fc.constantFrom('a', 'a', 'b');
const settling = {
  settled: fc.uniqueArray(fc.record({ index, outcome: fc.constantFrom(...OUTCOMES), attempts }), {
    selector: (item) => item.index,
    maxLength: 3,
  }),
  parked: fc.uniqueArray(fc.record({ index, ms: fc.integer({ min: -2, max: 4 }), attempts }), {
    selector: (item) => item.index,
    maxLength: 3,
  }),
  usage: fc.array(fc.record({ key: fc.constantFrom('x', 'y', 'z'), quantity: fc.nat({ max: 9 }) }), { maxLength: 2 }),
  close: fc.boolean(),
};
const unit = { generation: fc.constantFrom(1, 1, 1, 2, 2, 3), seq: fc.constantFrom(1, 2) };
const one = <T extends string>(type: T): fc.Arbitrary<T> => fc.constant(type);

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: one('open'), ...unit, delivery }) },
  { weight: 8, arbitrary: fc.record({ type: one('settle'), ...unit, delivery, ...settling }) },
  { weight: 2, arbitrary: fc.record({ type: one('recover'), ...unit, set: fc.array(index).map(fromIndexes) }) },
  { weight: 1, arbitrary: fc.record({ type: one('nextGeneration'), generation: fc.constantFrom(1, 2) }) },
  { weight: 1, arbitrary: fc.record({ type: one('endCancelled') }) },
  { weight: 2, arbitrary: fc.record({ type: one('suspect'), ...unit, started: fc.array(index, { maxLength: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ type: one('diedAlone'), ...unit, delivery, index }) },
  { weight: 2, arbitrary: fc.record({ type: one('finalize') }) },
  { weight: 1, arbitrary: fc.record({ type: one('pass'), ms: fc.integer({ min: 1, max: 4 }) }) },
);

/** What the store answers, in the model's terms. */
async function perform(store: Store, job: JobRecord, what: Command, now: number): Promise<unknown> {
  switch (what.type) {
    case 'open': {
      const { generation, seq, delivery: name } = what;
      return (await store.openUnit({ jobNo: job.no, generation, seq, delivery: name }, UNIT)) !== undefined;
    }
    case 'settle': {
      const { generation, seq, delivery: name } = what;
      const settled = what.settled.map((item) => ({ ...item, body: {} }));
      const waits = what.parked.map((item) => parked(item.index, now + item.ms, { history: attempted(item.attempts) }));
      const usage = what.usage.map((event) => ({ ...event, itemId: USED_BY, name: event.key }));
      const unit = { jobNo: job.no, generation, seq, delivery: name };
      return (await store.settle([flush(unit, { settled, parked: waits, usage, close: what.close })]))[0];
    }
    case 'recover':
      return store.recover(job.no, what.generation, what.seq, what.set);
    case 'nextGeneration':
      return store.nextGeneration(job.no, what.generation);
    case 'endCancelled':
      return store.endCancelled(job.no);
    case 'suspect': {
      const { generation, seq } = what;
      return store.suspect(
        what.started.map((started) => ({ jobNo: job.no, generation, seq, index: started })),
        WHY,
      );
    }
    case 'diedAlone': {
      const { generation, seq, delivery: name } = what;
      return store.diedAlone({ jobNo: job.no, generation, seq, delivery: name }, what.index, WHY);
    }
    case 'finalize':
      return store.finalize(job.no, 0);
    case 'pass':
      return undefined;
  }
}

/** Holds all that the store shows of the job to the model. */
async function compare(store: Store, job: JobRecord, model: Model, now: number): Promise<void> {
  const items = await store.items(job, { after: -1, limit: ITEMS + 1 });
  const shown = items.map((item) => ({
    outcome: OUTCOMES.find((outcome) => outcome === item.state) ?? null,
    attempts: item.attempts,
    due: item.parked?.due ?? null,
    kind: item.parked?.kind ?? null,
  }));
  expect(shown).toEqual(
    model.items.map(({ outcome, attempts: used, due, kind }) => ({ outcome, attempts: used, due, kind })),
  );
  const record = await reread(store, job);
  expect(record.outcomes).toEqual(model.tally);
  expect(record.generation).toBe(model.generation);
  expect(record.finishedAt === null ? null : record.state).toBe(model.closedAs);
  expect(sum(await store.counts(record))).toBe(ITEMS);
  expect(await store.unitWorkers(job.no)).toHaveLength(Math.min(1, model.openWorkers));
  expect(record.statement).toEqual(model.statement);
  expect(await store.due(job.no, [], ITEMS)).toEqual({ ...model.due(now), more: false });
}

export function randomConformance(open: Open): void {
  describe('random sequences', () => {
    const world = eachWithStore(open);

    it(
      'leave every item with its first outcome, counters that equal the rows, and answers that a simple model gives',
      async () => {
        const { store, clock } = world;
        const stores = [store, await world.reopen()];
        const steps = fc.array(fc.tuple(fc.constantFrom(0, 1), command), { minLength: 1, maxLength: 24 });
        const property = fc.asyncProperty(steps, async (sequence) => {
          const job = await submit(store, ITEMS);
          const model = new Model(ITEMS);
          for (const [via, what] of sequence) {
            if (what.type === 'pass') clock.now += what.ms;
            const answer = await perform(stores[via]!, job, what, clock.now);
            expect(answer).toEqual(model.apply(what, clock.now));
            await compare(stores[1 - via]!, job, model, clock.now);
          }
        });
        await fc.assert(property, { numRuns: 100 });
      },
      2 * LARGE_MS,
    );
  });
}
