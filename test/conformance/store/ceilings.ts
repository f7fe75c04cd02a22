import fc from 'fast-check';
import type { JournalWrite } from '../../../store';
import {
  LARGE_MS,
  answerWaits,
  eachWithStore,
  ended,
  finishAll,
  flush,
  openUnit,
  resultOf,
  start,
  startWaits,
  submit,
  type Open,
} from './kit';

const [STORED, FULL] = [{ is: 'stored' }, { is: 'full' }];

/** How many waits of a capability may be open at once. */
export function ceilingsConformance(open: Open): void {
  describe('ceilings on open waits', () => {
    held(open);
    freed(open);
  });
}

function held(open: Open): void {
  const world = eachWithStore(open);

  it('hold starts that come together, over two connections, and over all jobs of the capability', async () => {
    const stores = [world.store, await world.reopen()];
    const jobs = [await submit(world.store, 10), await submit(world.store, 10)];
    const units = await Promise.all(jobs.map((job) => openUnit(world.store, job, 1)));
    const answers = await Promise.all(
      stores.map((store, i) =>
        store.journal(Array.from({ length: 10 }, (_, index) => start(jobs[i]!, units[i]!, index, { maxOpen: 7 }))),
      ),
    );
    expect(answers.flat().filter((answer) => answer.is === 'stored')).toHaveLength(7);
    expect(answers.flat().filter((answer) => answer.is === 'full')).toHaveLength(13);
    const views = await Promise.all(jobs.map((job) => world.store.items(job, { after: -1, limit: 10 })));
    expect(views.flat().filter((view) => view.wait)).toHaveLength(7);
  });

  it('write nothing for a start that found no place', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    const full = start(job, unit, 1, { maxOpen: 1 });
    expect(await store.journal([start(job, unit, 0, { maxOpen: 1 }), full])).toEqual([STORED, FULL]);
    const { rootNo, subject, call } = full;
    expect(await store.journal([{ type: 'look', rootNo, subject, call }])).toEqual([{ is: 'absent' }]);
    expect(await store.openIntents(job.no)).toEqual([0, 1]);
    expect(await store.journal([start(job, unit, 1, { maxOpen: 0, renew: true })])).toEqual([FULL]);
  });

  it('count each name and each capability for itself, and do not hold where there is none', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 4), await submit(store, 4, { capability: 'text.lower@1' })];
    const [unit, another] = [await openUnit(store, job, 1), await openUnit(store, other, 1)];
    const answers = await store.journal([
      start(job, unit, 0, { maxOpen: 1 }),
      start(job, unit, 1, { maxOpen: 1, name: 'review' }),
      start(other, another, 0, { maxOpen: 1 }),
      start(job, unit, 2, { maxOpen: 1 }),
      start(job, unit, 3),
    ]);
    expect(answers).toEqual([STORED, STORED, STORED, FULL, STORED]);
  });

  it('do not hold a start that was made before', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    const write = start(job, unit, 0, { maxOpen: 1 });
    await store.journal([write]);
    const again = [write, { ...write, token: 'x' }, { ...write, token: 'y', renew: true }];
    const answers: JournalWrite[] = [...again, resultOf(write, 'r0'), { ...write, token: 'z' }];
    expect((await store.journal(answers)).map((answer) => answer.is)).toEqual([
      ...['stored', 'known', 'stored', 'stored', 'known'],
    ]);
  });
}

function freed(open: Open): void {
  const world = eachWithStore(open);

  const ways = ['answered', 'ended', 'cancelled', 'closed', 'withdrawn', 'withdrawn in the same call'] as const;
  it.each(ways)('have a place again when a wait is %s', async (way) => {
    const { store, clock } = world;
    const [job, next] = [await submit(store, 1), await submit(store, 1)];
    const [unit, other] = [await openUnit(store, job, 1), await openUnit(store, next, 1)];
    const first = start(job, unit, 0, { maxOpen: 1 });
    const { rootNo, subject, call } = first;
    const withdrawn = { type: 'withdrawn', rootNo, subject, call, token: null } as const;
    const second = start(next, other, 0, { maxOpen: 1 });
    if (way.startsWith('withdrawn')) await store.journal([first]);
    else await startWaits(store, job, unit, [0], { due: clock.now });
    expect(await store.journal([second])).toEqual([FULL]);
    if (way === 'withdrawn in the same call') {
      expect(await store.journal([withdrawn, second])).toEqual([STORED, STORED]);
      return;
    }
    if (way === 'answered') await answerWaits(store, unit, [{ index: 0, answer: 1 }]);
    if (way === 'ended') await store.settle([flush(unit, { settled: ended('failed', [0]) })]);
    if (way === 'cancelled') await store.endCancelled(job.no);
    if (way === 'closed') await finishAll(store, job, 'failed');
    if (way === 'withdrawn') await store.journal([withdrawn]);
    expect(await store.journal([second])).toEqual([STORED]);
  });

  it(
    'never have more open than they allow, whatever starts and ends',
    async () => {
      const { store } = world;
      let run = 0;
      const steps = fc.array(fc.array(fc.record({ ends: fc.boolean(), index: fc.nat({ max: 7 }) }), { maxLength: 8 }));
      const property = fc.asyncProperty(steps, fc.integer({ min: 0, max: 4 }), async (rounds, maxOpen) => {
        const job = await submit(store, 8, { capability: `capped@${++run}` });
        const unit = await openUnit(store, job, 1);
        const waiting = new Set<number>();
        const before = new Set<number>();
        for (const round of rounds) {
          const starts = round.filter((one) => !one.ends).map((one) => one.index);
          const answers = await store.journal(starts.map((index) => start(job, unit, index, { maxOpen })));
          starts.forEach((index, i) => {
            const room = before.has(index) || waiting.size < maxOpen;
            expect(answers[i]!.is).toBe(room ? 'stored' : 'full');
            if (!room || before.has(index)) return;
            before.add(index);
            waiting.add(index);
          });
          const ends = round.filter((one) => one.ends && waiting.has(one.index)).map((one) => one.index);
          await store.settle([flush(unit, { settled: ended('failed', ends) })]);
          for (const index of ends) waiting.delete(index);
        }
      });
      await fc.assert(property, { numRuns: 40 });
    },
    LARGE_MS,
  );
}
