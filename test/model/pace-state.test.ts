import { EMPTY } from '../../model/index-set';
import {
  decodeState,
  encodeState,
  initialState,
  resumeState,
  step,
  type EncodedState,
  type PaceState,
} from '../../model/pace';
import { seededRandom } from '../../testing/seeded-random';
import { PaceWorld } from './pace-world';

const MANY = 300_000;
const shape = { window: 50, unitMax: 1_000, batch: null };

/** A number in [0, 1) for each item that looks like chance and is the same each time. */
const scatter = (item: number): number => ((item * 2_654_435_761) % 2 ** 32) / 2 ** 32;

/** Parks or ends one of 300,000 items; `second` is one of some seconds from now. */
type Place = (store: PaceWorld['store'], item: number, second: (count: number) => number) => unknown;

/** 300,000 items, none of them ahead of the cursor, and quick, so that units are as large as they get. */
function crowd(place: Place): PaceWorld {
  const world = new PaceWorld(MANY, shape, { maxAttempts: 3, slowestUnit: 10 });
  world.watchful = false;
  for (let item = 0; item < MANY; item++) {
    place(world.store, item, (count) => world.now + 1_000 + Math.floor(scatter(item) * count) * 1_000);
  }
  const { cursor, nextDue } = world.store.beginning();
  world.state = {
    ...initialState({ total: MANY, tuning: shape, cursor, nextDue }),
    pace: { slotMs: 0.01, cap: 1_000 },
  };
  world.feed({ type: 'start' });
  return world;
}

const CROWDS: Record<string, Place> = {
  'every second one to be tried again, the others ended': (store, item, second) =>
    item % 2 === 0 ? store.end(item, 'ran') : store.park(item, 'retry', second(7)),
  'all waiting, scattered over eight times': (store, item, second) => store.park(item, 'wait', second(8)),
  'waiting and to be tried again, turn by turn, all due at once': (store, item, second) =>
    store.park(item, item % 2 === 0 ? 'wait' : 'retry', second(1)),
};

describe('the state of 300,000 items stays under 64 KB', () => {
  it.each(Object.entries(CROWDS))('%s', (_, place) => {
    const world = crowd(place);
    // All goes well: each is answered when it is asked about, and ends when it is run.
    world.finish(() => 0.99, seededRandom(1));
    expect(world.store.ended).toBe(MANY);
    expect(world.largestState).toBeLessThan(64 * 1_024);
  });

  it('a fresh job takes a few hundred bytes', () => {
    expect(JSON.stringify(encodeState(initialState({ total: MANY, tuning: shape }))).length).toBeLessThan(500);
  });
});

describe('a state that the first release encoded', () => {
  const old = {
    ...{ total: 10, tuning: shape, pace: { slotMs: 2.5, cap: 80 }, cursor: 8, ready: '1+2', inFlight: {} },
    ...{ recovering: {}, nextSeq: 7, nextDue: 5_000, dueNow: false, claiming: false, holdUntil: null },
    ...{ lostStreak: 1, lostBelow: 3, paused: false, cancel: 'none', rollover: true, finalizing: false },
    ...{ finalizeRounds: 1, timer: 5_000, closed: false },
  } satisfies EncodedState;

  it('is gone on with', () => {
    const state = decodeState(old);
    const expected: PaceState = {
      ...old,
      ready: [1, 3],
      checks: EMPTY,
      suspects: EMPTY,
      fullUntil: null,
      dueElsewhere: null,
      inFlight: {},
      recovering: {},
    };
    expect(state).toEqual(expected);
    const { commands } = step(resumeState(old), { type: 'start', now: 1_000 });
    expect(commands).toMatchObject([
      { type: 'send', seq: 7, lane: 'run', set: [1, 3, 8, 10], slots: 4 },
      { type: 'timer', at: 5_000 },
    ]);
  });

  it('begins with the commands that it had begun with, because it is replayed: what was due is found later', () => {
    const { commands } = step(resumeState({ ...old, dueNow: true, nextDue: null }), { type: 'start', now: 1_000 });
    expect(commands).toMatchObject([{ type: 'send' }]);
  });

  it('has units in flight that hold their slots, in the lane where all were then', () => {
    const inFlight = { 6: { set: '3+3', slots: 3 } };
    expect(decodeState({ ...old, inFlight }).inFlight).toEqual({ 6: { set: [3, 6], slots: 3 } });
  });
});

describe('a state that is carried over', () => {
  it('keeps what is due, also where it was not claimed before', () => {
    let state: PaceState = { ...initialState({ total: 10, tuning: shape, cursor: 10 }), dueNow: true, rollover: true };
    state = resumeState(JSON.parse(JSON.stringify(encodeState(state))) as EncodedState);
    expect(step(state, { type: 'start', now: 1_000 }).commands).toMatchObject([{ type: 'claim' }]);
  });

  it('keeps the items of all lanes, and until when as many wait as may', () => {
    const state: PaceState = {
      ...initialState({ total: 10, tuning: shape, cursor: 10 }),
      ...{ checks: [0, 2], suspects: [4, 5], ready: [6, 7], fullUntil: 9_000, rollover: true },
    };
    const { commands } = step(resumeState(encodeState(state)), { type: 'start', now: 1_000 });
    expect(commands).toMatchObject([
      { type: 'send', lane: 'check', set: [0, 2] },
      { type: 'timer', at: 9_000 },
    ]);
  });
});
