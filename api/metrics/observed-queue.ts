import { QueueUnavailable, type JobQueue } from '../../queue';
import { timed, type Note } from './observed-store';

export type QueueCall = 'start' | 'notify' | 'inspect' | 'check';

/** The queue, with a note of each call that goes to Temporal; as it is where there is none behind it. */
export function observeQueue(queue: JobQueue, note: Note<QueueCall>): JobQueue {
  if (queue.kind === 'in-process') return queue;
  const call = <T>(kind: QueueCall, work: () => Promise<T>): Promise<T> =>
    timed(work, kind, note, (error) => error instanceof QueueUnavailable);
  return {
    kind: queue.kind,
    start: (job) => call('start', () => queue.start(job)),
    notify: (jobId, notice) => call('notify', () => queue.notify(jobId, notice)),
    inspect: (jobId, generation) => call('inspect', () => queue.inspect(jobId, generation)),
    ailment: () => check(queue, note),
    warnings: () => queue.warnings(),
    url: (jobId) => queue.url(jobId),
    close: () => queue.close(),
  };
}

/** It does not throw: what it says is wrong counts as an error. */
async function check(queue: JobQueue, note: Note<QueueCall>): Promise<string | undefined> {
  const from = performance.now();
  const ailment = await queue.ailment();
  note('check', (performance.now() - from) / 1_000, ailment !== undefined);
  return ailment;
}
