/**
 * Every metric of `/metrics` that is ours, beside those of the process (`process_*`, `nodejs_*`). docs/metrics.md says
 * the same and what to alarm on; a test holds it to this table. No label is of a job or an item: their values are few.
 */
interface Definition {
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

const define = (type: Definition['type'], help: string, ...labels: string[]): Definition => ({ type, help, labels });

/** What the store says, the same from every API process: all are missing while it is away, but for the first. */
export const STORE_METRICS = {
  itemwise_store_up: define('gauge', '1 when the store answers, 0 when it does not'),
  itemwise_jobs: define('gauge', 'Jobs that there are', 'state'),
  itemwise_jobs_stuck: define('gauge', 'Open jobs with items that were sent again twice and still have no outcome'),
  itemwise_jobs_silence_seconds: define('gauge', 'Time since the open job that is silent for longest was heard of'),
  itemwise_items: define('gauge', 'Items of the jobs that have not ended', 'state'),
  itemwise_items_parked: define(
    'gauge',
    'Items that are parked, by the code of the error; of many, a sample',
    'kind',
    'code',
  ),
  itemwise_units_open: define('gauge', 'Units in flight'),
  itemwise_dead_letters_open: define('gauge', 'Dead letters that nobody has dealt with'),
  itemwise_sweep_repairs_total: define('counter', 'What the sweep repaired, in all processes', 'kind'),
  itemwise_workers: define('gauge', 'Workers that are alive'),
  itemwise_worker_memory_max_bytes: define('gauge', 'Resident memory of the largest worker'),
  itemwise_worker_event_loop_delay_max_seconds: define('gauge', 'Delay of the most delayed event loop of a worker'),
} as const satisfies Record<string, Definition>;

/** What this API process saw itself. */
export const PROCESS_METRICS = {
  itemwise_store_operation_duration_seconds: define('histogram', 'Calls of the store, with waits for its lock', 'kind'),
  itemwise_store_errors_total: define('counter', 'Calls of the store that found it away or locked', 'kind'),
  itemwise_temporal_call_duration_seconds: define('histogram', 'Calls of Temporal', 'call'),
  itemwise_temporal_errors_total: define('counter', 'Calls of Temporal that found it away', 'call'),
  itemwise_event_streams: define('gauge', 'Event streams that are open'),
} as const satisfies Record<string, Definition>;

export type StoreMetric = keyof typeof STORE_METRICS;
