import { Declined, Defer, Reject, type CallInfo, type Checked, type Reconciled } from '../../contract';
import type { SimProcess } from './process';
import type { Rng } from './random';
import type { Scheduler } from './scheduler';
import type { CallMode, Manner, Script } from './script';
import type { Trace } from './trace';

/** One sending of a call, as the vendor and the payload saw it. Times are ms since the epoch. */
export interface Send {
  readonly process: string;
  readonly at: number;
  readonly manner: Manner;
  bookedAt: number | null;
  /** Place of its intent in the order of all that was committed. */
  intent: number;
  /** What the payload heard. `none`: it does not know, and may never. */
  heard: 'result' | 'nothing_done' | 'none';
}

/** All that happened to one call: to one key, which the runner gives. */
export interface CallRecord {
  readonly label: string;
  readonly key: string;
  readonly mode: CallMode;
  readonly kind: 'vendor' | 'start';
  readonly sends: Send[];
  /** What the vendor said of it when it was asked, and when it looked. */
  readonly asked: { readonly at: number; readonly said: 'done' | 'absent' | 'unknown' }[];
  readonly bookings: string[];
  stops: number;
}

export interface RemoteWait {
  readonly remoteId: string;
  readonly label: string;
  readonly startedAt: number;
  /** The last answer that a check got. */
  told: 'pending' | 'ready' | 'expired' | 'unknown' | null;
  cancels: number;
}

export interface Sent {
  readonly label: string;
  readonly mode: CallMode;
  readonly kind: 'vendor' | 'start';
  readonly deaf: boolean;
  readonly script: Script;
}

/** A vendor whose ledger remembers everything. What is under way goes on when whoever asked for it is dead. */
export class Vendor {
  readonly calls = new Map<string, CallRecord>();
  readonly waits = new Map<string, RemoteWait & { readonly script: Script }>();
  /** Told of each sending before it is made. */
  onSend: (process: SimProcess, record: CallRecord, send: Send) => void = () => undefined;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly rng: Rng,
    private readonly trace: Trace,
  ) {}

  /** Makes the call; the result is the text of its booking. */
  async send(process: SimProcess, sent: Sent, info: CallInfo): Promise<string> {
    const record = this.record(sent, info.key);
    const manner = sent.script.manner(sent.label, record.sends.length + 1);
    const send: Send = {
      process: process.name,
      at: this.scheduler.now(),
      manner,
      bookedAt: null,
      intent: 0,
      heard: 'none',
    };
    this.onSend(process, record, send);
    record.sends.push(send);
    this.trace.add(process.name, `send ${sent.label} (${manner})`);
    const answer = process.hear(this.serve(record, send, sent));
    try {
      const heard = sent.deaf ? await answer : await unlessAborted(answer, info.signal);
      send.heard = 'result';
      return heard;
    } catch (error) {
      if (error instanceof Declined || error instanceof Reject || error instanceof Defer) send.heard = 'nothing_done';
      throw error;
    }
  }

  private async serve(record: CallRecord, send: Send, sent: Sent): Promise<string> {
    const { manner } = send;
    const ms = manner === 'slow' ? this.rng.int(1_000, 20_000) : this.rng.int(0, 400);
    await this.scheduler.sleep(ms / 2);
    const refusal = refusalOf(manner, sent.label);
    if (refusal) {
      await this.scheduler.sleep(ms / 2);
      throw refusal;
    }
    if (manner === 'hang') return new Promise(() => undefined);
    const booking = this.book(record, send, sent);
    if (manner === 'hang_booked') return new Promise(() => undefined);
    await this.scheduler.sleep(ms / 2);
    if (manner === 'booked_lost') throw new Error(`${sent.label}: the line broke`);
    return booking;
  }

  /** A vendor that was promised a key does nothing twice under it. */
  private book(record: CallRecord, send: Send, sent: Sent): string {
    send.bookedAt = this.scheduler.now();
    const dedups = record.mode === 'idempotent' || record.mode === 'both';
    const known = dedups ? record.bookings[0] : undefined;
    if (known !== undefined) return known;
    const booking = `${record.label}#${record.bookings.length + 1}`;
    record.bookings.push(booking);
    this.trace.add('vendor', `booked ${booking}`);
    if (sent.kind === 'start') {
      const wait = { remoteId: booking, label: record.label, startedAt: this.scheduler.now(), told: null, cancels: 0 };
      this.waits.set(booking, { ...wait, script: sent.script });
    }
    return booking;
  }

  async reconcile(process: SimProcess, sent: Sent, { key }: CallInfo): Promise<Reconciled<string>> {
    const record = this.record(sent, key);
    await process.sleep(this.rng.int(0, 300));
    const mood = sent.script.reconciling(sent.label, record.asked.length);
    const [booking] = record.bookings;
    const said = mood === 'amnesia' ? 'unknown' : booking === undefined ? 'absent' : 'done';
    if (mood !== 'error') record.asked.push({ at: this.scheduler.now(), said });
    this.trace.add(process.name, `reconciled ${sent.label}: ${mood === 'error' ? mood : said}`);
    await process.sleep(this.rng.int(0, 300));
    if (mood === 'error') throw new Error(`${sent.label}: the vendor does not answer`);
    if (said === 'done') return { state: 'done', result: booking! };
    return { state: said };
  }

  async stop(process: SimProcess, sent: Sent, { key }: CallInfo): Promise<void> {
    this.record(sent, key).stops++;
    this.trace.add(process.name, `stop ${sent.label}`);
    await process.sleep(this.rng.int(0, 300));
  }

  async check(process: SimProcess, ids: readonly string[], mischief: number): Promise<Record<string, Checked<string>>> {
    await process.sleep(this.rng.int(0, 300));
    if (this.rng.chance(0.05 * mischief)) throw new Error('the vendor does not answer checks');
    if (this.rng.chance(0.03 * mischief)) throw new Defer('too many checks', { after: this.rng.int(0, 5_000) });
    const answers: Record<string, Checked<string>> = {};
    for (const id of ids) {
      const checked = this.look(id);
      if (checked) answers[id] = checked;
    }
    this.trace.add(process.name, `checked ${ids.length} waits: ${JSON.stringify(answers).slice(0, 160)}`);
    await process.sleep(this.rng.int(0, 300));
    return answers;
  }

  private look(id: string): Checked<string> | undefined {
    const wait = this.waits.get(id);
    if (!wait) return undefined;
    const { fate, ms } = wait.script.wait(wait.label);
    const isTime = this.scheduler.now() - wait.startedAt >= ms;
    if (isTime && fate === 'forgotten') {
      wait.told = 'unknown';
      return undefined;
    }
    const state = !isTime || fate === 'silent' ? 'pending' : (fate as 'ready' | 'expired');
    wait.told = state;
    return state === 'ready' ? { state, answer: `answer ${id}` } : { state };
  }

  async cancelWaits(process: SimProcess, ids: readonly string[], mischief: number): Promise<void> {
    await process.sleep(this.rng.int(0, 200));
    this.trace.add(process.name, `cancel waits ${ids.join(' ')}`);
    for (const id of ids) this.waits.get(id)!.cancels++;
    await process.sleep(this.rng.int(0, 200));
    if (this.rng.chance(0.2 * mischief)) throw new Error('the vendor does not stop');
  }

  private record({ label, mode, kind }: Sent, key: string): CallRecord {
    const known = this.calls.get(label);
    if (known && known.key !== key) this.trace.violate('a call keeps its key', `${label}: ${known.key} became ${key}`);
    if (known) return known;
    const record: CallRecord = { label, key, mode, kind, sends: [], asked: [], bookings: [], stops: 0 };
    this.calls.set(label, record);
    return record;
  }
}

function refusalOf(manner: Manner, label: string): Error | undefined {
  switch (manner) {
    case 'declined':
      return new Declined(`${label} declined`);
    case 'rejected':
      return new Reject(`${label} rejected`, { code: 'sim_vendor_reject' });
    case 'deferred':
      return new Defer(`${label} not now`, { after: 3_000 });
    case 'error':
      return new Error(`${label}: no connection`);
    default:
      return undefined;
  }
}

/** The answer, unless the signal says before that it is not waited for. */
export function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  answer.catch(() => undefined);
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
