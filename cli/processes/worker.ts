import { createLogger } from '../../runtime/logger';
import type { StoreOptions } from '../../store';
import { Supervisor, Suspects, type SupervisorEnd, type SuspectStore } from '../../worker/supervisor';
import { databaseFile, type Config } from '../../config';
import { EXIT, type ExitCode } from '../exit-codes';
import { CliError } from '../failure';
import { systemClock } from '../session';
import { announce, commandOf, configOf, type ProcessOptions } from './options';
import { untilSignal } from './until-signal';

/** Loads the store's code: when a worker has died. Most supervisors never need it, and stay small. */
export type LoadStore = () => { openStore(options: StoreOptions): Promise<SuspectStore> };

/** A worker as a process, under a supervisor, which is this process: works until it is told to stop. */
export async function superviseWorker(options: ProcessOptions, loadStore: LoadStore): Promise<ExitCode> {
  const config = configOf(options);
  if (config.queue === 'in-process') {
    throw new Error('with ITEMWISE_QUEUE=in-process the API is the worker too: there is no worker to start');
  }
  const supervisor = supervisorOf(config, options, loadStore);
  const endAtOnce = (): never => {
    supervisor.kill();
    process.exit(EXIT.interrupted);
  };
  process.once('SIGQUIT', endAtOnce);
  void untilSignal(endAtOnce).then(() => supervisor.stop());
  return exitCodeOf(await supervisor.run());
}

function supervisorOf(config: Config, options: ProcessOptions, loadStore: LoadStore): Supervisor {
  const log = createLogger('supervisor', config.logLevel);
  const clock = systemClock;
  const openStore = () => loadStore().openStore({ file: databaseFile(config), patienceMs: config.apiPatienceMs });
  return new Supervisor({
    command: commandOf('worker-process', options),
    suspects: new Suspects({ openStore, log, clock }),
    log,
    clock,
    stderr: process.stderr,
    onWorking: ({ taskQueue, pid }) => announce({ working: taskQueue, pid }),
  });
}

/** A worker that took no work at all has said why on stderr: its exit code is ours. */
function exitCodeOf(end: SupervisorEnd): ExitCode {
  if (end.is === 'stopped') return EXIT.ok;
  const { worked, last } = end;
  const code = Object.values(EXIT).find((known) => known === last.code && known !== EXIT.ok);
  if (!worked && code !== undefined) return code;
  const how = last.signal ?? `exit code ${last.code}`;
  const message = `${worked ? 'the worker did not stop in order' : 'the worker ended before it worked'} (${how}): ${last.why.message}`;
  throw new CliError(message, code ?? EXIT.unexpected);
}
