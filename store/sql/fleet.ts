import { sql } from 'kysely';
import type { Fleet } from '../port';
import type { Database, SqlDialect } from './dialect';
import { toJob } from './rows';

/** Rows of workers that were silent this long are removed when another one beats, ms. */
const FORGET_WORKER_MS = 600_000;

export function createFleet(dialect: SqlDialect, now: () => number): Fleet {
  const { read, write } = dialect;
  return {
    beat: (worker) =>
      write(async (trx) => {
        const row = {
          pool: worker.pool,
          capabilities: JSON.stringify(worker.capabilities),
          ceilings: JSON.stringify(worker.ceilings),
          memory_mb: worker.memoryMb,
          loop_delay_ms: worker.loopDelayMs,
          started_at: worker.startedAt,
          beat_at: now(),
        };
        await trx
          .insertInto('workers')
          .values({ id: worker.id, ...row })
          .onConflict((oc) => oc.column('id').doUpdateSet(row))
          .execute();
        await trx
          .deleteFrom('workers')
          .where('beat_at', '<', now() - FORGET_WORKER_MS)
          .execute();
      }),

    retire: (workerId) =>
      write(async (trx) => {
        await trx.deleteFrom('workers').where('id', '=', workerId).execute();
      }),

    workers: (aliveSince) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('workers')
          .selectAll()
          .where('beat_at', '>=', aliveSince)
          .orderBy('started_at')
          .execute();
        return rows.map((row) => ({
          id: row.id,
          pool: row.pool,
          capabilities: JSON.parse(row.capabilities) as string[],
          ceilings: JSON.parse(row.ceilings) as Record<string, number>,
          memoryMb: row.memory_mb,
          loopDelayMs: row.loop_delay_ms,
          startedAt: Number(row.started_at),
          beatAt: Number(row.beat_at),
        }));
      }),

    lease: (name, holder, ttlMs) =>
      write(async (trx) => {
        const until = now() + ttlMs;
        const taken = await trx
          .insertInto('leases')
          .values({ name, holder, until })
          .onConflict((oc) =>
            oc
              .column('name')
              .doUpdateSet({ holder, until })
              .where((eb) => eb.or([eb('leases.holder', '=', holder), eb('leases.until', '<', now())])),
          )
          .returning('name')
          .executeTakeFirst();
        return taken !== undefined;
      }),

    unstarted: (before, limit) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('jobs')
          .selectAll()
          .where('finished_at', 'is', null)
          .where('workflow_started_at', 'is', null)
          .where('touched_at', '<', before)
          .orderBy('touched_at')
          .limit(limit)
          .execute();
        return rows.map(toJob);
      }),

    silent: (before, limit) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('jobs')
          .selectAll()
          .where('finished_at', 'is', null)
          .where('workflow_started_at', 'is not', null)
          .where((eb) => eb.or([eb('touched_at', '<', before), eb('cancel_at', 'is not', null), eb('suspect', '=', 1)]))
          .orderBy('touched_at')
          .limit(limit)
          .execute();
        return rows.map(toJob);
      }),

    touch: (no) =>
      write(async (trx) => {
        await trx.updateTable('jobs').set({ touched_at: now(), suspect: 0 }).where('no', '=', no).execute();
      }),

    nextGeneration: (no, generation) => write((trx) => nextGeneration(trx, no, generation, now())),

    unitWorkers: (no) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('units')
          .select('worker')
          .distinct()
          .where('job_no', '=', no)
          .where('closed', '=', sql.lit(0))
          .execute();
        return rows.map((row) => row.worker);
      }),
  };
}

async function nextGeneration(trx: Database, no: number, generation: number, at: number): Promise<boolean> {
  const moved = await trx
    .updateTable('jobs')
    .set({ generation: generation + 1, workflow_started_at: null, touched_at: at, suspect: 0 })
    .where('no', '=', no)
    .where('generation', '=', generation)
    .where('finished_at', 'is', null)
    .executeTakeFirst();
  if (moved.numUpdatedRows === 0n) return false;
  const lost = await trx
    .updateTable('units')
    .set({ closed: 1, running: 0, progress: null, slowest: null })
    .where('job_no', '=', no)
    .where('closed', '=', sql.lit(0))
    .executeTakeFirst();
  await trx
    .updateTable('jobs')
    .set((eb) => ({ recoveries: eb('recoveries', '+', Number(lost.numUpdatedRows)) }))
    .where('no', '=', no)
    .execute();
  return true;
}
