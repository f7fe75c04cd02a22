/**
 * What Prometheus is told.
 *
 *   definitions.ts     every metric that is ours      store-metrics.ts   what the store says, read for a scrape
 *   observed-store.ts  notes calls of the store       observed-queue.ts  notes calls of Temporal
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { ApiContext } from '../context';
import { PROCESS_METRICS } from './definitions';
import { observeQueue, type QueueCall } from './observed-queue';
import { observeStore, type Note, type StoreCall } from './observed-store';
import { storeMetrics } from './store-metrics';

/** So long a scrape is answered with the last one, ms: however many ask, the store is read once. */
const FRESH_MS = 1_000;

/** Upper bounds of the histograms, s: from a read of a warm page to a lock that is waited for. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The metrics of an API process. */
export class Metrics {
  private readonly collected = new Registry();
  private scraped = false;
  private last: { readonly at: number; readonly text: Promise<string> } | undefined;
  private readonly noteStore = this.noteInto<StoreCall>(
    this.histogram('itemwise_store_operation_duration_seconds'),
    this.counter('itemwise_store_errors_total'),
    'kind',
  );
  private readonly noteQueue = this.noteInto<QueueCall>(
    this.histogram('itemwise_temporal_call_duration_seconds'),
    this.counter('itemwise_temporal_errors_total'),
    'call',
  );

  /** @param openStreams how many event streams are open now. */
  constructor(
    private readonly context: Pick<ApiContext, 'runtime'>,
    openStreams: () => number,
  ) {
    new Gauge({
      ...this.options('itemwise_event_streams'),
      collect() {
        this.set(openStreams());
      },
    });
  }

  get contentType(): string {
    return this.collected.contentType;
  }

  /** The context with a note taken of each call of the store and of Temporal. */
  observe(context: ApiContext): ApiContext {
    const store = observeStore(context.runtime.store, this.noteStore);
    const queue = observeQueue(context.queue, this.noteQueue);
    return {
      ...context,
      runtime: { ...context.runtime, store },
      queue,
      lifecycle: { ...context.lifecycle, store, queue },
    };
  }

  /** All metrics as text. Never throws. */
  text(): Promise<string> {
    const at = performance.now();
    if (!this.last || at - this.last.at >= FRESH_MS) this.last = { at, text: this.collect() };
    return this.last.text;
  }

  private async collect(): Promise<string> {
    // Not before somebody asks: they keep a timer and an observer of their own.
    if (!this.scraped) collectDefaultMetrics({ register: this.collected });
    this.scraped = true;
    const ofStore = await storeMetrics(this.context.runtime.store, Date.now);
    return `${ofStore}\n${await this.collected.metrics()}`;
  }

  private noteInto<Kind extends string>(durations: Histogram, errors: Counter, label: string): Note<Kind> {
    return (kind, seconds, away) => {
      durations.observe({ [label]: kind }, seconds);
      if (away) errors.inc({ [label]: kind });
    };
  }

  private options(name: keyof typeof PROCESS_METRICS) {
    const { help, labels } = PROCESS_METRICS[name];
    return { name, help, labelNames: labels, registers: [this.collected] };
  }

  private histogram(name: keyof typeof PROCESS_METRICS): Histogram {
    return new Histogram({ ...this.options(name), buckets: BUCKETS });
  }

  private counter(name: keyof typeof PROCESS_METRICS): Counter {
    return new Counter(this.options(name));
  }
}
