/** A server's dynamic configuration: key and JSON value. */
export type DynamicConfig = Readonly<Record<string, unknown>>;

/** What the product wants of a development server (server 1.29). */
export const DEV_DYNAMIC_CONFIG: DynamicConfig = {
  /*
   * By default the server reads its transfer queue at most 20 times a second, and a workflow of one activity needs it
   * about 3 times: measured on 2 cores, 150 ms from start to result, one after another. From 100 on it is no longer
   * the limit (24 ms on a quiet machine, 50-65 ms on a busy one, the same for 100, 200 and 1,000); 1,000 leaves room
   * for faster machines. It is a cap: an idle server does nothing more because of it.
   */
  'history.transferProcessorMaxPollRPS': 1_000,
  // Priority and fairness keys of a task are ignored without these two.
  'matching.useNewMatcher': true,
  'matching.enableFairness': true,
  // Each partition orders only its own tasks: with one, the order by priority and fairness is that of the queue.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};
