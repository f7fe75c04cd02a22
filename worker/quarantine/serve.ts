import type { QuarantineRequest, SuspectsRun } from '../../activities/deps';
import { toErrorInfo } from '../../model/error-info';
import type { FromQuarantine, ToQuarantine } from './messages';

export interface SuspectRun {
  run(request: QuarantineRequest, onStart: (index: number) => Promise<void>): Promise<SuspectsRun>;
  /** Nothing more is started. */
  drain(): void;
}

/** Runs what the worker that started this process asks for, once. Ends this process when that worker is gone. */
export async function serveSuspects(suspects: SuspectRun): Promise<void> {
  const asked = new Promise<QuarantineRequest>((resolve) => {
    process.on('message', (message: ToQuarantine) => {
      if (message.is === 'run') resolve(message.request);
      else if (message.is === 'ping') void say({ is: 'pong' });
      else suspects.drain();
    });
  });
  // The unit is lost with the worker: whatever ran here would be refused.
  const onDisconnect = (): void => process.exit(1);
  process.on('disconnect', onDisconnect);
  // Where all processes of a service are told to stop; the worker says so too.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => suspects.drain());
  await say({ is: 'ready' });
  try {
    const came = await suspects.run(await asked, (index) => say({ is: 'starting', index }));
    await say({ is: 'done', ...came });
  } catch (error) {
    await say({ is: 'failed', why: toErrorInfo(error) });
  }
  process.off('disconnect', onDisconnect);
  process.disconnect();
}

/** Resolves when the message has left this process: from then on its death does not take it back. */
function say(message: FromQuarantine): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}
