import type { Activities } from '../../activities';
import type { Payload } from '../../contract';
import { viewItems, withStore, workerOf, type JobOptions, type TestItem, type TestJob } from '../job';
import { Ledger } from '../report';
import { runRounds, type UnitWorker } from '../rounds';
import { seededRandom } from '../seeded-random';
import { findAfterCrash, findWithoutCrash, type RunOutcome } from './find';
import { Life } from './life';
import { Names } from './names';
import { choose, type CrashPoint } from './points';
import { Records } from './records';
import { Findings, NO_CRASH, textOf, type CrashReport, type Repeat } from './report';
import { Requests, type SentRequest } from './requests';
import { watched, type Watch } from './watched';

export interface CrashOptions extends JobOptions {
  /** How often an item may be run; the waits in between are skipped. Default 20: to the end. */
  readonly attempts?: number;
  /** Most crash points to try, each of which is a run of all the items. Default 200; `seed` chooses which. */
  readonly limit?: number;
  /** Called before each run: the place to empty what the test's vendor remembers. */
  readonly before?: () => void | Promise<void>;
  /** The vendor's own account of the run, a text for each thing that it booked; what is there twice is found. */
  readonly booked?: () => readonly string[] | Promise<readonly string[]>;
  /** Whether a POST or PATCH may be made as often as one likes, such as a search. Default: none may. */
  readonly harmless?: (request: SentRequest) => boolean;
}

const DEFAULTS = { attempts: 20, limit: 200, seed: 1 };

/**
 * Runs a payload over items once, and then once for each of its crash points: the process dies there, and another worker
 * takes over and runs what is left to its end, in skipped time. A crash point is before and after each call to a vendor,
 * each effect, each start and check of a wait, and each write to the store: every await at which the runner has a part.
 * HTTP requests that change something and belong to no call are seen as well.
 *
 * ```ts
 * const crashed = await crashPayload(payload, [{ id: 'a', input: { url } }], { config: { baseUrl } });
 * expect(crashed.findings).toEqual([]);
 * ```
 *
 * Items run one by one, so that the same thing happens each time. Code that waits for something of its own when the
 * process dies (a timer, a request outside of a call) goes on until its next verb of Context; what it does is not seen.
 *
 * @throws TypeError as `runPayload` does.
 */
export async function crashPayload(
  payload: Payload,
  items: readonly TestItem[],
  options: CrashOptions = {},
): Promise<CrashReport> {
  return withStore(payload, options, async (submit) => {
    const trial = new Trial(payload, items, options, submit);
    return tryPoints(trial, await trial.run(undefined), { ...DEFAULTS, ...options });
  });
}

/** Has the process die at one point after the other, and puts together what that shows. */
async function tryPoints(trial: Trial, usual: TrialRun, { limit, seed }: typeof DEFAULTS): Promise<CrashReport> {
  const chosen = choose(usual.points, limit, seededRandom(seed));
  const findings = new Findings();
  for (const found of findWithoutCrash(usual)) findings.add(found, NO_CRASH);
  const repeats: Repeat[] = [];
  const notReached: string[] = [];
  for (const point of chosen) {
    const crashed = await trial.run(point);
    if (!crashed.end) {
      notReached.push(point.words);
      continue;
    }
    const { words } = crashed.end;
    const seen = findAfterCrash(usual, crashed);
    for (const found of seen.found) findings.add(found, crashed.end);
    repeats.push(...seen.repeats.map((repeat) => ({ ...repeat, at: words })));
  }
  const report = {
    findings: findings.all(),
    repeats,
    items: usual.reports,
    crashPoints: chosen.map((point) => point.words),
    leftOut: usual.points.length - chosen.length,
    notReached,
  };
  return { ...report, text: textOf(report, limit) };
}

interface TrialRun extends RunOutcome {
  readonly points: readonly CrashPoint[];
  /** Where the process died. */
  readonly end: CrashPoint | undefined;
}

/** One payload over the same items, again and again. */
class Trial {
  private readonly names: Names;

  constructor(
    private readonly payload: Payload,
    private readonly items: readonly TestItem[],
    private readonly options: CrashOptions,
    private readonly submit: (items: readonly TestItem[]) => Promise<TestJob>,
  ) {
    this.names = new Names(items);
  }

  /** Runs all the items; `at` is where the process dies. */
  async run(at: CrashPoint | undefined): Promise<TrialRun> {
    const { before, booked, harmless = () => false, attempts = DEFAULTS.attempts } = this.options;
    await before?.();
    const records = new Records();
    const requests = new Requests(harmless);
    requests.start();
    try {
      const job = await this.submit(this.items);
      const ledger = new Ledger();
      const first = new Life(at?.id, this.names);
      const second = new Life(undefined, this.names);
      const watch = { records, requests };
      await runRounds(
        job,
        inTurn(
          this.worker(job, ledger, { ...watch, life: first, which: 'first' }),
          this.worker(job, ledger, { ...watch, life: second, which: 'second' }),
          first,
        ),
        { attempts, singly: true },
      );
      const reports = (await viewItems(job)).map((item) => ledger.report(item, job.clock.now()));
      // What is open still would count towards ceilings in the runs that follow.
      await job.store.endCancelled(job.job.no);
      return { records, reports, points: first.points, end: first.end, booked: (await booked?.()) ?? [] };
    } finally {
      requests.stop();
    }
  }

  private worker(job: TestJob, ledger: Ledger, watch: Watch): Activities {
    const { life } = watch;
    const parts = { store: life.over(ledger.over(job.store)), clock: life.clock(job.clock) };
    return workerOf(job, this.options.seed, { ...parts, payload: watched(this.payload, watch) });
  }
}

/** Delivers to the first worker as long as it lives. When it is gone, the next one finds out what is left. */
function inTurn(first: Activities, second: Activities, life: Life): UnitWorker {
  return {
    settle: second.settle,
    deliver: async (unit, delivery) => {
      if (life.dead) return void (await second.runUnit(unit, delivery));
      await Promise.race([first.runUnit(unit, delivery), life.died]);
      if (!life.dead) return undefined;
      await life.arrived();
      return (await second.recover(unit)).open;
    },
  };
}
