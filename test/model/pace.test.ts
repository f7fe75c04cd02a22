import fc from 'fast-check';
import * as sets from '../../model/index-set';
import { encodeState, initialState, step, type PaceState } from '../../model/pace';
import { seededRandom } from '../../testing/seeded-random';
import { PaceWorld } from './pace-world';

const tuning = fc.record({
  window: fc.integer({ min: 1, max: 60 }),
  unitMax: fc.integer({ min: 1, max: 40 }),
  batch: fc.option(fc.integer({ min: 1, max: 20 })),
});

const act = fc.oneof(
  { weight: 12, arbitrary: fc.record({ type: fc.constant('answer' as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('timer' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('pause' as const, 'resume' as const, 'rollover' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel' as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('stray' as const), seq: fc.integer({ min: 1, max: 50 }) }) },
);

describe('the pace machine, over generated event sequences', () => {
  it('ends every item in exactly one outcome, whatever happens in between', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 150 }),
        tuning,
        fc.integer({ min: 1, max: 5 }),
        fc.array(act, { maxLength: 60 }),
        fc.integer(),
        (total, shape, maxAttempts, acts, seed) => {
          const luck = seededRandom(seed);
          const world = new PaceWorld(total, shape, maxAttempts);
          world.feed({ type: 'start' });
          for (const next of acts) {
            if (world.closed) break;
            if (next.type === 'answer') world.answer(next.which % Math.max(1, world.pending.length), luck);
            else if (next.type === 'timer') world.fireTimer();
            else if (next.type === 'stray') strayAnswers(world, next.seq);
            else {
              world.feed({ type: next.type });
              if (next.type === 'rollover') world.rollOver();
            }
          }
          world.finish(luck);
          expect(world.outcomes.size).toBe(total);
          expect(world.state.closed).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('ends a cancelled job without sending anything more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 150 }),
        tuning,
        fc.nat({ max: 40 }),
        fc.integer(),
        (total, shape, after, seed) => {
          const luck = seededRandom(seed);
          const world = new PaceWorld(total, shape, 3);
          world.feed({ type: 'start' });
          for (let i = 0; i < after && !world.closed; i++) {
            if (world.pending.length > 0) world.answer(0, luck);
            else world.fireTimer();
          }
          world.feed({ type: 'cancel' });
          const sentBefore = world.state.nextSeq;
          world.finish(luck);
          expect(world.state.nextSeq).toBe(sentBefore);
          expect(world.outcomes.size).toBe(total);
        },
      ),
    );
  });
});

/** Answers that nobody waits for: a unit that ended before, or was never sent. They must change nothing. */
function strayAnswers(world: PaceWorld, seq: number): void {
  if (world.state.inFlight[seq] || world.state.recovering[seq]) return;
  const before = world.state;
  world.feed({ type: 'unit_ended', seq, end: { handedBack: [0, 1], nextDue: 1, ran: 1, wallMs: 1 } });
  world.feed({ type: 'unit_lost', seq });
  world.feed({ type: 'recovered', seq, open: [0, 1], nextDue: 1 });
  expect({ ...world.state, timer: null }).toEqual({ ...before, timer: null });
}

describe('the pace machine', () => {
  const shape = { window: 50, unitMax: 1000, batch: null };

  it('keeps its state under 64 KB with 300,000 items parked at scattered times', () => {
    const world = new PaceWorld(300_000, shape, 3);
    // Quick items travel a thousand together: the largest sets there are.
    world.slowestUnit = 10;
    // The worst case of scatter: every second item is parked and comes due, the rest has ended.
    for (let item = 0; item < 300_000; item++) {
      if (item % 2 === 0) world.outcomes.set(item, 'ran');
      else world.parked.set(item, { due: world.now + 1_000 + (item % 7) * 1_000, attempts: 1 });
    }
    world.state = initialState({ total: 300_000, tuning: shape, cursor: 300_000, nextDue: world.now + 1_000 });
    world.feed({ type: 'start' });
    // Everything works: the model of the store is too slow for 300,000 items that fail and come back.
    world.finish(() => 0.99);
    expect(world.outcomes.size).toBe(300_000);
    expect(world.largestState).toBeLessThan(64 * 1024);
  });

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
      state = step(state, { type: 'recovered', seq, open: set, nextDue: null, now: 0 }).state;
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
      state = step(state, { type: 'recovered', seq: Number(seq), open: set, nextDue: null, now: 0 }).state;
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

  it('encodes a fresh job in a few hundred bytes', () => {
    expect(JSON.stringify(encodeState(initialState({ total: 300_000, tuning: shape }))).length).toBeLessThan(500);
  });
});
