import { join } from 'node:path';
import { ensureTemporal, type EnsureTemporalOptions, type Temporal } from '../../temporal-dev';
import { systemClock, type Clock } from '../session';
import { formatDuration } from '../text/duration';
import { describeExit, launch, type Announced } from './announced';
import { requireFreePort } from './ports';
import { waitUntilReady } from './ready';
import { devSettings, withTemporalEnv, type DevFlags, type DevSettings } from './settings';

export interface DevOptions extends DevFlags {
  /** Default true: Temporal keeps its runs in the data folder. */
  readonly persist?: boolean;
  /** Used when free, else a free one is. Default Temporal's own. */
  readonly temporalPort?: number;
  readonly temporalUiPort?: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Told what is being done, for a person. */
  readonly say: (line: string) => void;
  /** Told each line of a child's log. */
  readonly log: (who: 'api' | 'worker', line: string) => void;
  /** Others for tests. */
  readonly main?: string;
  readonly ensureTemporal?: (options: EnsureTemporalOptions) => Promise<Temporal>;
  readonly clock?: Clock;
}

/** Temporal, the API and a worker, at work. */
export interface Dev {
  readonly api: string;
  /** Undefined without Temporal, or when an external one's is not known. */
  readonly temporalUi: string | undefined;
  /** Lets what runs end, then stops everything. */
  stop(): Promise<void>;
  /** Ends everything at once. */
  kill(): void;
  /** Resolves when it was stopped; rejects when one of them ended by itself, and all was stopped then. */
  readonly done: Promise<void>;
}

/** A start needs seconds; this is for a loaded machine. */
const READY_MS = 60_000;
/** Beyond the grace that running items have. */
const EXTRA_GRACE_MS = 5_000;

/**
 * Starts everything and waits until the API is ready and the worker works. What was started ends when this fails, and
 * when this process ends.
 * @throws ConfigError, UsageError, TemporalUnavailable, DevServerDied, or an Error that says what is not ready and why.
 */
export async function startDev(options: DevOptions): Promise<Dev> {
  const { env = process.env, say, clock = systemClock } = options;
  const settings = devSettings(env, options);
  await requireFreePort(settings.port, settings.host);
  const temporal = settings.withTemporal ? await startTemporal(options, settings, env) : undefined;
  const childEnv = temporal ? withTemporalEnv(settings.childEnv, temporal) : settings.childEnv;
  say(temporal ? 'Starting the API and a worker …' : 'Starting the API, which is the worker too …');
  const main = options.main ?? join(__dirname, '..', 'main.js');
  const start = (who: 'api' | 'worker', endAtOnce?: NodeJS.Signals): Announced =>
    launch({
      args: [main, who],
      env: childEnv,
      onLine: (line) => options.log(who, line),
      ...(endAtOnce && { endAtOnce }),
    });
  const api = start('api');
  const worker = temporal ? start('worker', 'SIGQUIT') : undefined;
  const fleet = new Fleet(temporal, api, worker, settings.shutdownGraceMs + EXTRA_GRACE_MS);
  try {
    const url = await ready(api, worker, clock);
    return {
      api: url,
      temporalUi: temporal?.uiUrl,
      stop: () => fleet.stop(),
      kill: () => fleet.kill(),
      done: fleet.done(),
    };
  } catch (error) {
    await fleet.stop();
    throw error;
  }
}

async function startTemporal(options: DevOptions, settings: DevSettings, env: NodeJS.ProcessEnv): Promise<Temporal> {
  const { say, persist = true, temporalPort: port, temporalUiPort: uiPort } = options;
  const ensure = options.ensureTemporal ?? ensureTemporal;
  say(env['TEMPORAL_ADDRESS'] ? `Using the Temporal server at ${env['TEMPORAL_ADDRESS']}.` : 'Starting Temporal …');
  return ensure({ env, port, uiPort, onProgress: say, ...(persist && { persistTo: settings.temporalFile }) });
}

async function ready(api: Announced, worker: Announced | undefined, clock: Clock): Promise<string> {
  const over = new AbortController();
  let problem = 'the API has not said where it listens';
  const bothReady = async (): Promise<string> => {
    const { listening = '' } = await api.announced;
    await waitUntilReady(listening, { clock, signal: over.signal, onProblem: (found) => (problem = found) });
    problem = 'the worker takes no work yet';
    await worker?.announced;
    return listening;
  };
  const apiDied = api.exited.then((exit): never => {
    throw new Error(`the API ended before it was ready (${describeExit(exit)}):\n${api.tail()}`);
  });
  const workerDied = worker
    ? worker.exited.then((exit): never => {
        throw new Error(`the worker ended before it worked (${describeExit(exit)}):\n${worker.tail()}`);
      })
    : apiDied;
  const tooLate = clock.sleep(READY_MS, over.signal).then((): never => {
    throw new Error(`not ready within ${formatDuration(READY_MS)}: ${problem}`);
  });
  try {
    return await Promise.race([bothReady(), apiDied, workerDied, tooLate]);
  } finally {
    for (const outcome of [apiDied, workerDied, tooLate]) outcome.catch(() => undefined);
    over.abort();
  }
}

/** What runs, and how it ends: worker and API first, so that what they hold is written, then Temporal. */
class Fleet {
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly temporal: Temporal | undefined,
    private readonly api: Announced,
    private readonly worker: Announced | undefined,
    private readonly graceMs: number,
  ) {}

  stop(): Promise<void> {
    return (this.stopped ??= this.stopAll());
  }

  kill(): void {
    this.stopped ??= Promise.resolve();
    this.worker?.kill();
    this.api.kill();
    void this.temporal?.stop();
  }

  /** See `Dev.done`. */
  done(): Promise<void> {
    const done = this.watch();
    // Whoever waits for it hears of it; nobody need.
    done.catch(() => undefined);
    return done;
  }

  private async watch(): Promise<void> {
    const { api, worker, temporal } = this;
    const ended = await Promise.race([
      api.exited.then((exit) => `the API ended by itself (${describeExit(exit)}):\n${api.tail()}`),
      // Not the worker that items may end: its supervisor, which outlives them.
      ...(worker
        ? [worker.exited.then((exit) => `the worker ended by itself (${describeExit(exit)}):\n${worker.tail()}`)]
        : []),
      ...(temporal?.exited ? [temporal.exited.then((exit) => `Temporal ended by itself (${describeExit(exit)})`)] : []),
    ]);
    const asked = this.stopped !== undefined;
    await this.stop();
    if (!asked) throw new Error(ended);
  }

  private async stopAll(): Promise<void> {
    await Promise.all([this.worker?.stop(this.graceMs), this.api.stop(this.graceMs)]);
    await this.temporal?.stop();
  }
}
