import assert from 'node:assert/strict';
import type { JobJson } from '../../../api';
import { parse } from '../../support/service';
import { endedOf, type Chaos, type Facts, type OpenOptions, type Scenario } from '../chaos';
import { rowsOf } from '../rows';
import { smallDisk } from '../small-disk';
import { full, locked, readOnly, type StoreFault } from '../store-faults';

/** As short as it means anything: the worker's patience ends while the fault lasts. */
const SHORT = { ITEMWISE_API_STORE_PATIENCE: '1s', ITEMWISE_WORKER_STORE_PATIENCE: '2s' };

/** An item of the submit that is to be refused, bytes: it would not fit into what a full file has free. */
const LARGE = 2_000;

interface Outage {
  readonly fault: StoreFault;
  readonly lastsMs: number;
}

/**
 * Takes the database away in the middle of a job, when items are about to be recorded. Submits are refused meanwhile and
 * leave nothing; what had ended is recorded later rather than done again.
 */
async function takeAway(chaos: Chaos, { fault, lastsMs }: Outage, options: OpenOptions): Promise<Facts> {
  await chaos.open({ ...options, env: { ...(!chaos.long && SHORT), ...options.env } });
  const { service } = chaos;
  await service.startWorker();
  const items = chaos.sized(100, 3_000);
  const id = await chaos.submitOrders(items, [200, chaos.sized(600, 2_000)]);
  const at = chaos.between(items * 0.2, items * 0.5);
  await service.until(id, (job) => endedOf(job) >= at);
  const from = Date.now();
  const undo = fault(chaos);
  await refused(chaos);
  await chaos.last(lastsMs - (Date.now() - from));
  undo();
  const outMs = Date.now() - from;
  await chaos.until('submits are taken again', () => accepted(chaos), 30_000);
  const job = await service.ended(id, 300_000);
  assert.equal(job.state, 'succeeded');
  assert.equal(job.statement!.attempts, items, 'an outage costs nobody an attempt');
  const { jobs } = await service.get<{ jobs: JobJson[] }>('/v1/jobs?limit=1000');
  for (const other of jobs) await service.ended(other.id);
  await chaos.until('nothing is left of the submits that were refused', () => isClean(chaos));
  const again = [...service.runs().values()].filter((runs) => runs > 1).length;
  const note = `away for ${Math.round(outMs / 1_000)} s, ${again} items run again`;
  return { faults: 1, jobs: jobs.map((each) => each.id), note };
}

/** A submit, of some size, is answered 503 and leaves nothing. */
async function refused(chaos: Chaos): Promise<void> {
  const { service } = chaos;
  const count = async (): Promise<number> => (await service.get<{ jobs: JobJson[] }>('/v1/jobs')).jobs.length;
  const before = await count();
  const answer = await service.send('test.order', chaos.orderInputs(1_500, [0, 1], { pad: 'x'.repeat(LARGE) }));
  const problem = await parse<{ code?: string }>(answer);
  assert.deepEqual([answer.status, problem.code], [503, 'store_unavailable'], JSON.stringify(problem));
  assert(answer.headers.get('retry-after'), 'it says when to try again');
  assert.equal(await count(), before, 'a submit that is refused leaves no job');
}

async function accepted(chaos: Chaos): Promise<boolean> {
  const answer = await chaos.service.send('test.order', chaos.orderInputs(5, [0, 1]));
  await answer.text();
  return answer.status === 202;
}

/** An upload that broke off may still have to be dropped; what belongs to none is left of nothing. */
function isClean(chaos: Chaos): boolean {
  const { uploads, strays } = rowsOf(chaos);
  return uploads > 0 || strays === 0;
}

export const sqliteLocked: Scenario = {
  name: 'SQLite locked',
  about: 'another process has an exclusive lock of the file for a minute while items end',
  run: (chaos) => takeAway(chaos, { fault: locked, lastsMs: chaos.sized(5_000, 60_000) }, {}),
};

export const sqliteReadOnly: Scenario = {
  name: 'SQLite read-only',
  about: 'the database takes no writes for a while, as on a volume that went read-only',
  run: (chaos) =>
    takeAway(chaos, { fault: readOnly, lastsMs: chaos.sized(3_000, 30_000) }, { preload: ['store-mood'] }),
};

export const diskFull: Scenario = {
  name: 'disk full',
  about: 'the database is on a small tmpfs that is filled up; where none may be mounted, its file may not grow',
  run: async (chaos) => {
    const lastsMs = chaos.sized(3_000, 30_000);
    // Mounting needs rights, and what a full tmpfs does is not the same everywhere: the short version goes without.
    const disk = chaos.long ? await smallDisk(chaos) : undefined;
    const facts = disk
      ? await takeAway(chaos, { fault: disk.fill, lastsMs }, { dataDir: disk.folder })
      : await takeAway(chaos, { fault: full, lastsMs }, { preload: ['store-mood'] });
    return { ...facts, note: `${disk ? 'tmpfs' : 'max_page_count'}, ${facts.note}` };
  },
};
