import fc from 'fast-check';
import * as sets from '../../model/index-set';
import { initialState, step, type Found, type PaceState } from '../../model/pace';
import { seededRandom } from '../../testing/seeded-random';
import type { Nature } from './pace-fates';
import { PaceWorld } from './pace-world';

const tuning = fc.record({
  window: fc.integer({ min: 1, max: 60 }),
  unitMax: fc.integer({ min: 1, max: 40 }),
  batch: fc.option(fc.integer({ min: 1, max: 20 })),
});

/** Items that only run, items that also wait, and some that kill their worker. */
const nature: fc.Arbitrary<Nature> = fc.record(
  {
    maxAttempts: fc.integer({ min: 1, max: 5 }),
    waits: fc.record({ most: fc.integer({ min: 1, max: 3 }), chance: fc.double({ min: 0.1, max: 1, noNaN: true }) }),
    maxOpen: fc.integer({ min: 1, max: 20 }),
    suspects: fc.double({ min: 0, max: 0.5, noNaN: true }),
  },
  { requiredKeys: ['maxAttempts'] },
);

const act = fc.oneof(
  { weight: 12, arbitrary: fc.record({ type: fc.constant('answer' as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('timer' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('pause' as const, 'resume' as const, 'rollover' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('cancel' as const, 'restart' as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('stray' as const), seq: fc.integer({ min: 1, max: 50 }) }) },
);

describe('the pace machine, over generated event sequences', () => {
  it('ends every item in exactly one outcome, whatever happens in between', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        tuning,
        nature,
        fc.array(act, { maxLength: 60 }),
        fc.integer(),
        (total, shape, items, acts, seed) => {
          const luck = seededRandom(seed);
          const world = new PaceWorld(total, shape, items);
          world.feed({ type: 'start' });
          for (const next of acts) {
            if (world.closed) break;
            if (next.type === 'answer') world.answer(next.which % Math.max(1, world.pending.length), luck);
            else if (next.type === 'timer') world.fireTimer();
            else if (next.type === 'stray') strayAnswers(world, next.seq);
            else if (next.type === 'restart') world.restart();
            else {
              world.feed({ type: next.type });
              if (next.type === 'rollover') world.rollOver();
            }
          }
          world.finish(luck);
          expect(world.store.ended).toBe(total);
          expect(world.state.closed).toBe(true);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('ends a cancelled job without sending anything more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        tuning,
        nature,
        fc.nat({ max: 40 }),
        fc.integer(),
        (total, shape, items, after, seed) => {
          const luck = seededRandom(seed);
          const world = new PaceWorld(total, shape, items);
          world.feed({ type: 'start' });
          for (let i = 0; i < after && !world.closed; i++) {
            if (world.pending.length > 0) world.answer(0, luck);
            else world.fireTimer();
          }
          world.feed({ type: 'cancel' });
          const sentBefore = world.state.nextSeq;
          world.finish(luck);
          expect(world.state.nextSeq).toBe(sentBefore);
          expect(world.store.ended).toBe(total);
        },
      ),
      { numRuns: 120 },
    );
  });
});

/** Answers that nobody waits for: a unit that ended before, or was never sent. They must change nothing. */
function strayAnswers(world: PaceWorld, seq: number): void {
  if (world.state.inFlight[seq] || world.state.recovering[seq]) return;
  const before = world.state;
  world.feed({ type: 'unit_ended', seq, end: { handedBack: [0, 1], nextDue: 1, ran: 1, wallMs: 1 } });
  world.feed({ type: 'unit_lost', seq });
  world.feed({ type: 'recovered', seq, open: { ...NONE, run: [0, 1] }, nextDue: 1 });
  expect({ ...world.state, timer: null }).toEqual({ ...before, timer: null });
}

const NONE: Found = { run: [], check: [], quarantine: [] };

describe('the pace machine', () => {
  const shape = { window: 50, unitMax: 1000, batch: null };

  it('holds, instead of spinning, when units are lost one after the other', () => {
    let state: PaceState = step(initialState({ total: 10, tuning: { ...shape, window: 1 } }), {
      type: 'start',
      now: 0,
    }).state;
    const holds: (number | null)[] = [];
    for (let i = 0; i < 4; i++) {
      const seq = Number(Object.keys(state.inFlight)[0]);
      const set = state.inFlight[seq]!.set;
      state = step(state, { type: 'unit_lost', seq, now: 0 }).state;
      state = step(state, { type: 'recovered', seq, open: { ...NONE, run: set }, nextDue: null, now: 0 }).state;
      holds.push(state.holdUntil);
      if (state.holdUntil !== null) state = step(state, { type: 'timer', now: state.holdUntil }).state;
    }
    expect(holds).toEqual([null, 1_000, 2_000, 4_000]);
  });

  it('does not hold when all units of one dead worker are lost together', () => {
    let { state } = step(initialState({ total: 300, tuning: shape }), { type: 'start', now: 0 });
    const units = Object.entries(state.inFlight);
    expect(units.length).toBe(10);
    for (const [seq] of units) state = step(state, { type: 'unit_lost', seq: Number(seq), now: 0 }).state;
    expect(state.holdUntil).toBeNull();
    for (const [seq, { set }] of units) {
      state = step(state, {
        type: 'recovered',
        seq: Number(seq),
        open: { ...NONE, run: set },
        nextDue: null,
        now: 0,
      }).state;
    }
    expect(Object.keys(state.inFlight)).toHaveLength(10);
  });

  it('grows units towards five seconds of work, and shares the rest evenly', () => {
    let state = step(initialState({ total: 300_000, tuning: shape }), { type: 'start', now: 0 }).state;
    expect(Object.values(state.inFlight).map((unit) => sets.size(unit.set))).toEqual(Array(10).fill(20));
    for (let i = 0; i < 100; i++) {
      const seq = Number(Object.keys(state.inFlight)[0]);
      const ran = sets.size(state.inFlight[seq]!.set);
      state = step(state, {
        type: 'unit_ended',
        seq,
        end: { handedBack: [], nextDue: null, ran, wallMs: ran * 200 },
        now: 0,
      }).state;
    }
    // 200 ms an item on 5 slots is 25 items a unit.
    expect(sets.size(Object.values(state.inFlight).at(-1)!.set)).toBe(25);
  });

  it('gives a batch payload units with room for a whole batch', () => {
    const { state } = step(initialState({ total: 406, tuning: { window: 100, unitMax: 1000, batch: 50 } }), {
      type: 'start',
      now: 0,
    });
    expect(Object.values(state.inFlight).map((unit) => unit.slots)).toEqual([50, 50]);
  });
});
