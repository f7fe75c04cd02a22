import type { IntentWrite, JournalAnswer, JournalWrite, ResultWrite, UnknownWrite, WithdrawalWrite } from '../../port';
import type { Database, SqlDialect } from '../dialect';
import { passesFence } from '../fence';
import { Pins } from './batches';
import { Ledger, toEntry, type Call } from './ledger';
import { Ceilings, Starts } from './starts';

const STORED: JournalAnswer = { is: 'stored' };

/**
 * Writes the journal, in order, within the caller's transaction. Fifty calls that start at once come here together:
 * what they need to know is read at once and what they change is written at once, however many they are.
 */
export async function writeJournal(
  dialect: SqlDialect,
  trx: Database,
  writes: readonly JournalWrite[],
  at: number,
): Promise<JournalAnswer[]> {
  const answers: JournalAnswer[] = [];
  for (const together of inRuns(writes)) answers.push(...(await writeRun(dialect, trx, together, at)));
  return answers;
}

/** Runs of writes that can be decided before any of them is written: a start is not behind a withdrawal, which may free its place. */
function inRuns(writes: readonly JournalWrite[]): JournalWrite[][] {
  const runs: JournalWrite[][] = [];
  let run: JournalWrite[] = [];
  let freed = false;
  for (const write of writes) {
    if (freed && write.type === 'intent' && write.wait) {
      runs.push(run);
      run = [];
      freed = false;
    }
    run.push(write);
    freed ||= write.type === 'withdrawn';
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

async function writeRun(
  dialect: SqlDialect,
  trx: Database,
  writes: readonly JournalWrite[],
  at: number,
): Promise<JournalAnswer[]> {
  const ledger = await Ledger.load(dialect, trx, writes);
  const desk = new Desk(trx, ledger, new Starts(dialect, trx, ledger), at);
  const answers: JournalAnswer[] = [];
  for (const write of writes) answers.push(await desk.answer(write));
  await desk.save();
  return answers;
}

/** Decides about writes one after the other. */
class Desk {
  private readonly fences = new Map<string, boolean>();
  private readonly made = new Map<number, { calls: number; waits: number }>();
  private readonly ceilings: Ceilings;
  private readonly pins: Pins;

  constructor(
    private readonly trx: Database,
    private readonly ledger: Ledger,
    private readonly starts: Starts,
    private readonly at: number,
  ) {
    this.ceilings = new Ceilings(trx);
    this.pins = new Pins(trx);
  }

  async answer(write: JournalWrite): Promise<JournalAnswer> {
    if (write.type === 'intent') return this.intent(write);
    const call = this.ledger.get(write);
    if (write.type === 'look') return call ? { is: 'known', entry: toEntry(call) } : { is: 'absent' };
    // A fact of a deleted job: there is nobody left to whom it matters.
    if (!call) return STORED;
    if (call.state === 'done') return { is: 'known', entry: toEntry(call) };
    if (write.type === 'result') this.result(write, call);
    else if (write.type === 'unknown') this.unknown(write, call);
    else this.withdraw(write, call);
    return STORED;
  }

  async save(): Promise<void> {
    await this.ledger.save();
    await this.starts.save(this.at);
    await this.pins.save();
    for (const [no, { calls, waits }] of this.made) {
      await this.trx
        .updateTable('jobs')
        .set((eb) => ({ vendor_calls: eb('vendor_calls', '+', calls), waits: eb('waits', '+', waits) }))
        .where('no', '=', no)
        .execute();
    }
  }

  private async intent(write: IntentWrite): Promise<JournalAnswer> {
    if (!(await this.admits(write))) return { is: 'refused' };
    const call = this.ledger.get(write);
    if (!call && write.wait && !(await this.ceilings.take(write.wait))) return { is: 'full' };
    if (write.members) this.pins.pin(write.fence, write.subject, write.members);
    if (write.wait) this.starts.open(write, write.fence.jobNo, write.wait);
    const { token } = write;
    if (!call) this.ledger.set(write, newCall(write, this.at));
    // The commit of a try whose answer was lost.
    else if (call.state === 'intent' && call.token === token) return STORED;
    else if (!write.renew || call.state === 'done') return { is: 'known', entry: toEntry(call) };
    else this.ledger.set(write, { ...call, token, state: 'intent', intentAt: this.at });
    this.count(write);
    return STORED;
  }

  /** For the statement: a call that is about to be made, by the job that makes it. */
  private count({ kind, fence }: IntentWrite): void {
    if (kind === 'once') return;
    const { calls, waits } = this.made.get(fence.jobNo) ?? { calls: 0, waits: 0 };
    this.made.set(fence.jobNo, { calls: calls + 1, waits: waits + (kind === 'start' ? 1 : 0) });
  }

  private async admits({ fence }: IntentWrite): Promise<boolean> {
    const name = JSON.stringify([fence.jobNo, fence.generation, fence.seq, fence.delivery]);
    const admitted = this.fences.get(name) ?? (await passesFence(this.trx, fence));
    this.fences.set(name, admitted);
    return admitted;
  }

  private result(write: ResultWrite, call: Call): void {
    const result = JSON.stringify(write.result) ?? 'null';
    this.ledger.set(write, { ...call, state: 'done', result, doneAt: this.at });
    if (call.kind === 'start') this.starts.finish(write);
  }

  private unknown(write: UnknownWrite, call: Call): void {
    this.ledger.set(write, { ...call, state: 'unknown', remoteId: write.remoteId });
  }

  private withdraw(write: WithdrawalWrite, call: Call): void {
    if (write.token !== null && write.token !== call.token) return;
    this.ledger.delete(write);
    if (call.kind === 'start') this.starts.withdraw(write);
  }
}

function newCall(write: IntentWrite, at: number): Call {
  const { kind, vendor, key, token, argsHash } = write;
  return {
    jobNo: write.fence.jobNo,
    ...{ kind, vendor, key, token, argsHash },
    state: 'intent',
    result: null,
    remoteId: null,
    intentAt: at,
    doneAt: null,
  };
}
