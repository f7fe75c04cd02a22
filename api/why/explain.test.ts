import { PLAN, newJob } from '../../test/conformance/store/kit';
import type { Diagnosis, ItemCounts, JobRecord, WorkerRow } from '../../store';
import { explain, type Situation } from './explain';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;

const COUNTS: ItemCounts = {
  ...{ pending: 0, running: 0, waiting: 0, deferred: 0 },
  ...{ succeeded: 0, failed: 0, needs_review: 0, skipped: 0 },
};
const worker = (id: string, capabilities = ['text.upper@1']): WorkerRow => ({
  ...{ id, pool: 'default', capabilities, ceilings: {}, memoryMb: 1, loopDelayMs: 0, startedAt: NOW, beatAt: NOW },
});
const unit = { worker: 'w1', items: 50, running: 50, openedAt: NOW - MINUTE };
const job = (more: Partial<JobRecord> = {}): JobRecord => ({
  ...newJob(100),
  ...{ no: 1, rootNo: 1, retryOf: null, state: 'running', paused: false, generation: 1, plan: PLAN },
  outcomes: { succeeded: 0, failed: 0, needs_review: 0, skipped: 0 },
  ...{ createdAt: NOW - 5 * MINUTE, workflowStartedAt: NOW, startedAt: NOW - 4 * MINUTE, finishedAt: null },
  ...{ cancel: null, finalizeRounds: 0, statement: null },
  ...more,
});

type Told = Partial<Omit<Situation, 'job' | 'counts' | 'diagnosis'>> & {
  job?: Partial<JobRecord>;
  counts?: Partial<ItemCounts>;
  diagnosis?: Partial<Diagnosis>;
};

function told(more: Told): [string, string] {
  const { cause, sentence } = explain({
    ...{ now: NOW, workers: [worker('w1')], ailment: undefined, stuck: undefined },
    ...more,
    job: job(more.job),
    counts: { ...COUNTS, ...more.counts },
    diagnosis: {
      ...{ stateSince: NOW - 3 * MINUTE, units: [], slowest: [] },
      parked: { total: 0, nextDue: null, reasons: [], lookedAt: 0 },
      ...more.diagnosis,
    },
  });
  return [cause, sentence];
}

const parked = (due: number): Diagnosis['parked'] => ({
  ...{ total: 1_200, nextDue: due, lookedAt: 1_200 },
  reasons: [
    { kind: 'retry', code: 'http_503', message: 'away', count: 1_000, due },
    { kind: 'defer', code: 'deferred', message: 'rate limited', count: 150, due },
    { kind: 'wait', code: '', message: '', count: 50, due },
  ],
});

describe('why a job is not further', () => {
  const cases: [string, Told, string][] = [
    ['ended', { job: { state: 'failed' } }, 'It waits for nothing: it ended as failed 3 min ago.'],
    [
      'stuck',
      { stuck: { job: job(), missing: 2, items: ['a', 'b'] } },
      'It is stuck: when it was to close, items without an outcome were sent again, twice; still without one: 2 items (the first: a, b).',
    ],
    [
      'paused',
      { job: { state: 'paused' }, counts: { running: 1 } },
      'It has been paused for 3 min: nothing is sent until it is resumed; what is in flight goes on (1 item).',
    ],
    [
      'queue_unreachable',
      { ailment: 'Temporal does not answer', workers: [] },
      'The queue is not well (Temporal does not answer): nothing is sent until it is back.',
    ],
    ['no_worker', { workers: [] }, 'No worker is alive in its pool: nothing runs until one is started.'],
    [
      'no_capability',
      { workers: [worker('w1', ['other@1'])] },
      'No worker alive (of 1) has text.upper@1: nothing runs until one with it is started.',
    ],
    [
      'worker_lost',
      { workers: [worker('w2')], diagnosis: { units: [unit] }, counts: { running: 50 } },
      'The worker that had what was in flight (1 unit) is gone: it is sent again when its heartbeat times out.',
    ],
    [
      'cancelling',
      { job: { state: 'cancelling' }, counts: { running: 3 } },
      'It has been cancelling for 3 min: what is in flight comes to its end (3 items), and open calls are looked up.',
    ],
    [
      'not_started',
      { job: { startedAt: null }, counts: { pending: 100 } },
      'It was accepted 5 min ago, and its first unit has not reached a worker.',
    ],
    [
      'window_full',
      {
        counts: { running: 50, pending: 40 },
        diagnosis: { units: [unit], slowest: [{ itemId: 'x', startedAt: NOW - 40_000, worker: 'w1' }] },
      },
      'It is at work with 50 items in flight, and its window of 50 is full; the slowest: x for 40 s.',
    ],
    ['running', { counts: { running: 2, pending: 3 } }, 'It is at work: 2 items in flight, 3 items not started.'],
    [
      'parked',
      { counts: { waiting: 1_050, deferred: 150 }, diagnosis: { parked: parked(NOW + 30_000) } },
      'What is left is parked (1,200 items), the first until 2026-01-01T12:00:30Z (in 30 s): 1,000 to be tried again after http_503, 150 deferred (rate limited), 50 waiting for a vendor.',
    ],
    ['closing', { counts: { succeeded: 100 } }, 'Every item has an outcome: it is about to close.'],
    ['closing', { counts: { pending: 1 } }, 'The next unit is about to be sent (1 item not started).'],
  ];
  it.each(cases)('%s', (cause, situation, sentence) => {
    expect(told(situation)).toEqual([cause, sentence]);
  });

  it('names what stops everything before what stops a part', () => {
    const all: Told = {
      job: { state: 'paused' },
      ...{ workers: [], ailment: 'away' },
      counts: { running: 50 },
      diagnosis: { units: [unit], parked: parked(NOW) },
    };
    expect(told(all)[0]).toBe('paused');
    expect(told({ ...all, job: {} })[0]).toBe('queue_unreachable');
  });

  it('says when the items that are parked are due already', () => {
    expect(told({ counts: { waiting: 1_200 }, diagnosis: { parked: parked(NOW - 1) } })[1]).toContain('are due now');
  });
});
