import { range, size, type IndexSet } from '../../model/index-set';
import {
  CLAIM_LIMIT,
  initialState,
  step,
  type Found,
  type Lane,
  type PaceCommand,
  type PaceEvent,
  type PaceState,
  type UnitEnd,
} from '../../model/pace';
import { seededRandom } from '../../testing/seeded-random';
import { FULL_MS } from './pace-fates';
import { PaceWorld } from './pace-world';

const shape = { window: 50, unitMax: 1_000, batch: null };
const NONE: Found = { run: [], check: [], quarantine: [] };
const OVER: UnitEnd = { handedBack: [], nextDue: null, ran: 0, wallMs: 100 };

type Happening = PaceEvent extends infer E ? (E extends PaceEvent ? Omit<E, 'now'> : never) : never;

/** A machine, and what it has said so far. */
class Machine {
  now = 0;
  state: PaceState;
  said: readonly PaceCommand[] = [];

  constructor(total: number, more: Partial<PaceState> = {}) {
    this.state = { ...initialState({ total, tuning: more.tuning ?? shape }), ...more };
  }

  on(event: Happening): this {
    const { state, commands } = step(this.state, { ...event, now: this.now });
    this.state = state;
    this.said = commands;
    return this;
  }

  /** The end of the oldest unit of the lane. */
  ends(lane: Lane, end: Partial<UnitEnd> = {}): this {
    const [seq] = this.units(lane)[0]!;
    return this.on({ type: 'unit_ended', seq: Number(seq), end: { ...OVER, ...end } });
  }

  units(lane: Lane): [string, { set: IndexSet; slots: number }][] {
    return Object.entries(this.state.inFlight).filter(([, unit]) => (unit.lane ?? 'run') === lane);
  }

  /** What it sent, last of all. */
  get sent(): { lane: Lane; items: number; slots: number }[] {
    return this.said.flatMap((command) =>
      command.type === 'send' ? [{ lane: command.lane, items: size(command.set), slots: command.slots }] : [],
    );
  }

  get claims(): object[] {
    return this.said.flatMap((command) => (command.type === 'claim' ? [{ without: command.without }] : []));
  }
}

/** With nothing ahead of the cursor, and items at hand. */
const standing = (more: Partial<PaceState>): Machine => new Machine(100_000, { cursor: 100_000, ...more });

it('the generated courses come upon everything that there is to come upon', () => {
  const seen = { run: 0, check: 0, quarantine: 0, elsewhere: 0, full: 0 };
  for (let seed = 0; seed < 5; seed++) {
    const nature = { maxAttempts: 3, waits: { most: 2, chance: 0.6 }, maxOpen: 10, suspects: 0.3 };
    const world = new PaceWorld(100, { ...shape, unitMax: 10 }, nature);
    const luck = seededRandom(seed);
    world.feed({ type: 'start' });
    for (let i = 0; i < 40; i++) {
      if (world.pending.length > 0) world.answer(Math.floor(luck() * world.pending.length), luck);
      else world.fireTimer();
      if (i === 30) world.restart();
    }
    world.finish(luck);
    for (const key of Object.keys(seen) as (keyof typeof seen)[]) seen[key] += world.seen[key];
  }
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(0);
});

describe('checks', () => {
  it('hold no slot: they are sent while the window is taken', () => {
    const job = new Machine(10_000).on({ type: 'start' });
    expect(job.units('run')).toHaveLength(10);
    job.ends('run', { elsewhere: { check: [0, 5], quarantine: [] } });
    expect(job.sent).toEqual([
      { lane: 'check', items: 5, slots: 0 },
      { lane: 'run', items: 20, slots: 5 },
    ]);
  });

  it('are ten units at once, of a thousand items, and of fewer where they are scattered', () => {
    const job = standing({ checks: range(0, 30_000) }).on({ type: 'start' });
    expect(job.sent).toEqual(Array(10).fill({ lane: 'check', items: 1_000, slots: 0 }));
    expect(job.ends('check').sent).toHaveLength(1);
    const scattered = Array.from({ length: 2_000 }, (_, i) => [3 * i, 3 * i + 1]).flat();
    expect(
      standing({ checks: scattered })
        .on({ type: 'start' })
        .sent.map((unit) => unit.items),
    ).toEqual(Array(4).fill(500));
  });

  it('teach nothing of how long an item takes', () => {
    const job = standing({ checks: [0, 9] }).on({ type: 'start' });
    const { pace } = job.state;
    expect(job.ends('check', { ran: 9, wallMs: 60_000 }).state.pace).toEqual(pace);
  });

  it('hand back what was answered, and it is run', () => {
    const job = standing({ checks: [0, 9] })
      .on({ type: 'start' })
      .ends('check', { handedBack: [3, 6] });
    expect(job.sent).toEqual([{ lane: 'run', items: 3, slots: 3 }]);
  });

  it('are not sent while the job is paused or held', () => {
    expect(standing({ checks: [0, 9], paused: true }).on({ type: 'start' }).sent).toEqual([]);
    const held = standing({ checks: [0, 9], holdUntil: 500 }).on({ type: 'start' });
    expect(held.said).toEqual([{ type: 'timer', at: 500 }]);
  });
});

describe('suspects', () => {
  it('go one unit at a time, of twenty, which holds one slot', () => {
    const job = standing({ suspects: [0, 50], ready: [60, 90] }).on({ type: 'start' });
    expect(job.sent[0]).toEqual({ lane: 'quarantine', items: 20, slots: 1 });
    expect(job.sent.filter((unit) => unit.lane === 'quarantine')).toHaveLength(1);
    job.ends('quarantine', { elsewhere: { check: [], quarantine: [0, 1] } });
    expect(job.sent).toEqual([{ lane: 'quarantine', items: 20, slots: 1 }]);
    // The one that came back is among the next twenty; eleven are left.
    expect(size(job.state.suspects)).toBe(11);
  });

  it('wait for a slot: a job of concurrency 1 never has two items running', () => {
    const tuning = { ...shape, window: 1 };
    const job = standing({ tuning, ready: [0, 9] }).on({ type: 'start' });
    job.on({ type: 'claimed', due: { ...NONE, quarantine: [20, 22] }, more: false, nextDue: null });
    expect(job.sent).toEqual([]);
    expect(job.ends('run').sent).toEqual([{ lane: 'quarantine', items: 2, slots: 1 }]);
    expect(job.ends('quarantine').sent).toMatchObject([{ lane: 'run', slots: 1 }]);
  });

  it('are what the store says that they are when a unit is lost', () => {
    const job = new Machine(20).on({ type: 'start' });
    const [seq] = job.units('run')[0]!;
    job.on({ type: 'unit_lost', seq: Number(seq) });
    job.on({
      type: 'recovered',
      seq: Number(seq),
      open: { run: [1, 2], check: [2, 3], quarantine: [0, 1] },
      nextDue: null,
    });
    expect(job.sent.map((unit) => unit.lane)).toEqual(['quarantine', 'check', 'run']);
  });
});

describe('a ceiling of waits that is met', () => {
  const full = (): Machine =>
    standing({ ready: [0, 40], checks: [50, 60] })
      .on({ type: 'start' })
      .ends('run', { handedBack: [0, 5], fullMs: FULL_MS });

  it('holds what is to be run until its time has passed', () => {
    const job = full();
    expect(job.sent).toEqual([]);
    expect(job.said).toEqual([{ type: 'timer', at: FULL_MS }]);
    job.now = FULL_MS - 1;
    expect(job.ends('run', { handedBack: [5, 9] }).sent).toEqual([]);
    job.now = FULL_MS;
    expect(job.on({ type: 'timer' }).sent[0]).toMatchObject({ lane: 'run' });
  });

  it('or until a check finds one answered', () => {
    expect(full().ends('check').sent).toEqual([]);
    expect(full().ends('check', { handedBack: [50, 51] }).sent[0]).toMatchObject({ lane: 'run' });
  });

  it('holds no checks, which make room, but suspects, which may be to wait as well', () => {
    const job = full().on({
      type: 'claimed',
      due: { ...NONE, check: [70, 80], quarantine: [90, 91] },
      more: false,
      nextDue: null,
    });
    expect(job.sent).toEqual([{ lane: 'check', items: 10, slots: 0 }]);
  });

  it('does not keep a job open that has nothing left', () => {
    const job = standing({ ready: [0, 1] })
      .on({ type: 'start' })
      .ends('run', { fullMs: FULL_MS });
    expect(job.said[0]).toMatchObject({ type: 'finalize' });
  });

  it('is no end: thousands that were put off and come due together, while few may wait, are all answered', () => {
    const nature = { maxAttempts: 3, waits: { most: 1, chance: 1 }, maxOpen: 500, slowestUnit: 10 };
    const world = new PaceWorld(10_000, { ...shape, unitMax: 100 }, nature);
    world.watchful = false;
    for (let item = 0; item < world.total; item++) world.store.park(item, 'defer', world.now + 1_000);
    world.state = { ...world.state, ...world.store.beginning() };
    world.feed({ type: 'start' });
    world.finish(() => 0.99, seededRandom(3));
    expect(world.store.ended).toBe(10_000);
    expect(world.seen.full).toBeGreaterThan(5);
  });
});

describe('a claim', () => {
  const busy = { ready: range(0, 5_000), nextDue: 1_000 };
  const due = (more: Partial<PaceState>): Machine => {
    const job = standing({ ...busy, ...more }).on({ type: 'start' });
    job.now = 1_000;
    return job.on({ type: 'timer' });
  };

  it('is not made while there is enough to be run, in a job that has no other lane', () => {
    expect(due({}).claims).toEqual([]);
  });

  it('leaves out what is to be run while there is enough of it, so that waits are asked about in time', () => {
    const job = due({ dueElsewhere: false });
    expect(job.claims).toEqual([{ without: 'run' }]);
    job.on({ type: 'claimed', without: 'run', due: { ...NONE, check: [7_000, 7_010] }, more: false, nextDue: 2_000 });
    expect(job.sent).toEqual([{ lane: 'check', items: 10, slots: 0 }]);
    expect([job.claims, job.state.timer]).toEqual([[], 2_000]);
    job.now = 2_000;
    expect(job.on({ type: 'timer' }).claims).toEqual([{ without: 'run' }]);
    job.on({ type: 'claimed', without: 'run', due: NONE, more: false, nextDue: null });
    // What is to be run was due all the time, and is claimed as soon as there is room for it.
    while (size(job.state.ready) >= 2_000) job.ends('run', { ran: 1_000, wallMs: 10 });
    expect(job.claims).toEqual([{ without: undefined }]);
  });

  it('goes on while the store has more', () => {
    const job = due({ dueElsewhere: false });
    job.on({ type: 'claimed', without: 'run', due: { ...NONE, check: [7_000, 7_010] }, more: true, nextDue: null });
    expect(job.claims).toEqual([{ without: 'run' }]);
  });

  it('is not made for a lane that has enough', () => {
    expect(due({ dueElsewhere: false, checks: range(10_000, 25_000) }).claims).toEqual([]);
  });

  it('asks for nothing that is in hand in any lane', () => {
    const job = standing({ ready: [0, 5], checks: [5, 9], suspects: [20, 45], dueNow: true }).on({ type: 'start' });
    const claim = job.said.find((command) => command.type === 'claim');
    expect(claim).toEqual({ type: 'claim', exclude: [0, 9, 20, 45], limit: CLAIM_LIMIT });
  });

  it('misses nothing that comes due while it is under way', () => {
    const job = standing({ ready: [0, 1], dueNow: true, holdUntil: 1_500 }).on({ type: 'start' });
    expect(job.claims).toHaveLength(1);
    const parked = standing({ ...job.state, inFlight: { 1: { set: [5, 6], slots: 1 } } });
    parked.ends('run', { nextDue: 1_000 });
    parked.now = 1_500;
    parked.on({ type: 'timer' });
    parked.on({ type: 'claimed', due: NONE, more: false, nextDue: null });
    expect(parked.state.timer).toBe(1_000);
    expect(parked.on({ type: 'timer' }).claims).toHaveLength(1);
  });
});

describe('items that the store can give again', () => {
  const scattered = (from: number, count: number): IndexSet =>
    Array.from({ length: count }, (_, i) => [from + 2 * i, from + 2 * i + 1]).flat();
  const inFlight = { 1: { set: scattered(50_000, 500), slots: 0, lane: 'check' as const } };

  it('are left to it where too many are at hand, and claimed when there is room', () => {
    const ready = scattered(0, 3_900);
    const job = standing({ ready, inFlight, nextSeq: 2, holdUntil: 9_000, dueElsewhere: false });
    job.ends('check', { handedBack: scattered(50_000, 500) });
    expect(job.state.ready).toEqual(ready);
    expect(job.claims).toEqual([]);
    job.now = 9_000;
    job.on({ type: 'timer' });
    while (job.claims.length === 0) job.ends('run', { ran: 1_000, wallMs: 10 });
    expect(job.claims).toEqual([{ without: undefined }]);
  });

  it('are claimed again after a claim that is under way', () => {
    const more = {
      ready: scattered(0, 3_900),
      inFlight,
      nextSeq: 2,
      dueNow: true,
      claiming: true,
      dueElsewhere: false,
    };
    const job = standing(more);
    job.ends('check', { handedBack: scattered(50_000, 500) });
    job.on({ type: 'claimed', due: NONE, more: false, nextDue: null });
    expect(job.said.at(-1)).toEqual({ type: 'timer', at: 0 });
    expect(job.on({ type: 'timer' }).state).toMatchObject({ dueNow: true });
  });

  it('are not what a run unit hands back: it may never have been parked', () => {
    const run = { 1: { set: scattered(50_000, 500), slots: 5 } };
    const job = standing({ ready: scattered(0, 3_900), inFlight: run, nextSeq: 2, holdUntil: 9_000 });
    job.ends('run', { handedBack: scattered(50_000, 500) });
    expect(size(job.state.ready)).toBe(4_400);
  });
});
