import { Counter, Gauge, Registry } from 'prom-client';
import { REPAIRS, WORKER_SILENT_MS, repairCounter } from '../../queue';
import type { Store } from '../../store';
import { STORE_METRICS, type StoreMetric } from './definitions';

/** A store that has not answered after this long is down, ms: a scraper waits for ten seconds at most. */
const DEADLINE_MS = 2_000;

type Labels = Record<string, string>;
type Sample = readonly [metric: StoreMetric, value: number, labels?: Labels];

/** What the store says, as text. Never throws: a store that is away is a metric too. */
export async function storeMetrics(store: Store, now: () => number): Promise<string> {
  const samples = await within(DEADLINE_MS, readSamples(store, now())).catch(() => undefined);
  // Made anew each time: what is not known now is left out, and not shown as it once was, or as zero.
  const collected = new Registry();
  for (const name of Object.keys(STORE_METRICS) as StoreMetric[]) {
    const of = samples?.filter(([metric]) => metric === name);
    if (name === 'itemwise_store_up') add(collected, name, [[name, samples ? 1 : 0]]);
    else if (of) add(collected, name, of);
  }
  return collected.metrics();
}

function add(collected: Registry, name: StoreMetric, samples: readonly Sample[]): void {
  const { type, help, labels } = STORE_METRICS[name];
  const options = { name, help, labelNames: labels, registers: [collected] };
  const metric = type === 'counter' ? new Counter(options) : new Gauge(options);
  for (const [, value, of = {}] of samples) metric.inc(of, value);
}

async function readSamples(store: Store, at: number): Promise<Sample[]> {
  const gauges = await store.gauges();
  const workers = await store.workers(at - WORKER_SILENT_MS);
  const counters = await store.counters();
  const deadLetters = await store.openDeadLetters();
  const most = (of: (worker: (typeof workers)[number]) => number): number => Math.max(0, ...workers.map(of));
  return [
    ...byLabel('itemwise_jobs', 'state', gauges.jobs),
    ['itemwise_jobs_stuck', gauges.stuckJobs],
    ['itemwise_jobs_silence_seconds', gauges.silentSince === null ? 0 : Math.max(0, at - gauges.silentSince) / 1_000],
    ...byLabel('itemwise_items', 'state', gauges.items),
    ...gauges.parked.map(({ kind, code, count }): Sample => ['itemwise_items_parked', count, { kind, code }]),
    ['itemwise_units_open', gauges.units],
    ['itemwise_dead_letters_open', deadLetters],
    ...REPAIRS.map((kind): Sample => ['itemwise_sweep_repairs_total', counters[repairCounter(kind)] ?? 0, { kind }]),
    ['itemwise_workers', workers.length],
    ['itemwise_worker_memory_max_bytes', most(({ memoryMb }) => memoryMb * 1_000_000)],
    ['itemwise_worker_event_loop_delay_max_seconds', most(({ loopDelayMs }) => loopDelayMs / 1_000)],
  ];
}

function byLabel(metric: StoreMetric, label: string, counts: object): Sample[] {
  return Object.entries(counts as Record<string, number>).map(([of, count]) => [metric, count, { [label]: of }]);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer after ${ms} ms`)), ms).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
