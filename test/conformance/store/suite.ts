/**
 * What every store adapter must do, told through the port alone. An adapter's own test file runs it:
 *
 *   storeConformance('PostgreSQL', async () => ({ store, reopen, clock, dispose }));
 *
 *   intake.ts     uploads, the seal, idempotency      units.ts     deliveries, the fence, recovery
 *   jobs.ts       listing, item views, the log        settle.ts    outcomes, usage, progress, payload logs
 *   lifecycle.ts  the state table, cancel, delete     parking.ts   who waits until when
 *   closing.ts    ending and finalizing               fleet.ts     workers, leases, the sweep's questions
 *   journal.ts    paid calls                          batches.ts   batches that keep their members
 *   waits.ts      starts and checks                   answers.ts   what an item goes on with
 *   ceilings.ts   how many waits may be open          cancelling.ts  the receipt, how open items end
 *   observe.ts    gauges, counters, glances
 *   quarantine.ts losses, suspects, deaths alone      statement.ts the account a job closes with
 *   retry.ts      jobs that retry others              lineage.ts   the newest outcomes, dead letters
 *   changes.ts    notice of writes                    random.ts    random sequences against a simple model
 */
import { answersConformance } from './answers';
import { batchesConformance } from './batches';
import { cancellingConformance } from './cancelling';
import { ceilingsConformance } from './ceilings';
import { changesConformance } from './changes';
import { closingConformance } from './closing';
import { fleetConformance } from './fleet';
import { intakeConformance } from './intake';
import { jobsConformance } from './jobs';
import { journalConformance } from './journal';
import type { Open } from './kit';
import { lifecycleConformance } from './lifecycle';
import { lineageConformance } from './lineage';
import { observeConformance } from './observe';
import { parkingConformance } from './parking';
import { quarantineConformance } from './quarantine';
import { randomConformance } from './random';
import { retryConformance } from './retry';
import { settleConformance } from './settle';
import { statementConformance } from './statement';
import { unitsConformance } from './units';
import { waitsConformance } from './waits';

export type { Open, Opened } from './kit';

/** @param open gives a store without data, at any time of the clock that is given with it. */
export function storeConformance(name: string, open: Open): void {
  describe(`the ${name} store`, () => {
    intakeConformance(open);
    jobsConformance(open);
    lifecycleConformance(open);
    unitsConformance(open);
    settleConformance(open);
    parkingConformance(open);
    closingConformance(open);
    statementConformance(open);
    retryConformance(open);
    lineageConformance(open);
    fleetConformance(open);
    journalConformance(open);
    waitsConformance(open);
    answersConformance(open);
    ceilingsConformance(open);
    batchesConformance(open);
    quarantineConformance(open);
    cancellingConformance(open);
    observeConformance(open);
    changesConformance(open);
    randomConformance(open);
  });
}
