import type { Config } from '../config';
import type { Log } from '../activities';
import { uncaughtException, unhandledRejection } from './death';
import { writeReason } from './traces';
import { startWatchdog } from './watchdog';
import type { ErrorInfo } from '../model/error-info';

/**
 * Sees to it that this process, in whatever way its items break it, ends and leaves a reason.
 * @param traces the folder that it was given for what it leaves behind.
 */
export function watchThisProcess(traces: string, config: Config, log: Log): void {
  const end = (why: ErrorInfo): never => {
    writeReason(traces, why);
    log.error({ err: why }, 'this process ends, with the items that it had started');
    process.exit(1);
  };
  process.on('unhandledRejection', (reason) => end(unhandledRejection(reason)));
  process.on('uncaughtException', (thrown) => end(uncaughtException(thrown)));
  startWatchdog({ limitMs: config.heartbeatTimeoutMs, traces, logLevel: config.logLevel, log });
}
