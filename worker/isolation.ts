import { rmSync } from 'node:fs';
import type { Runtime } from '../runtime';
import type { Isolation } from './activity-deps';
import { QuarantineProcess } from './quarantine';
import { StartedFile } from './started-log';
import { startedFile } from './traces';
import type { NodeCommand } from './watched-process';

export interface OpenIsolation extends Isolation {
  /** The process ends in good order: nothing that it had started is under suspicion. */
  close(): void;
}

/**
 * What a worker with a supervisor does about items that kill their process.
 * @param traces the folder that the supervisor looks into when this process has died.
 * @param quarantine starts a quarantine process.
 */
export function openIsolation({ config, log }: Runtime, traces: string, quarantine: NodeCommand): OpenIsolation {
  const started = new StartedFile(startedFile(traces), (error) =>
    log.error({ err: error }, 'cannot note which items start: if this worker dies, nobody knows which item did it'),
  );
  return {
    started,
    quarantine: new QuarantineProcess({ command: quarantine, stderr: process.stderr, traces, ...config }),
    close: () => {
      started.close();
      rmSync(startedFile(traces), { force: true });
    },
  };
}
