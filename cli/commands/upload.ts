import type { Client } from '../cli';
import type { JobJson, SubmitHead } from '../client/api';
import type { Sent } from '../client/upload';
import { Interrupted, Unreachable } from '../failure';
import { readItems, type NewItem } from '../readers';
import type { Session } from '../session';
import { formatBytes, plural } from '../text/number';
import type { SubmitFlags } from './submit-options';

/** Submits a file, and shows how far it is when it takes long. Whatever fails on the way leaves nothing. */
export async function upload(client: Client, file: string, flags: SubmitFlags, head: SubmitHead): Promise<JobJson> {
  const { session, api } = client;
  const source = await readItems(file, { stdin: session.stdin, format: flags.format, idField: flags.id });
  const line = new UploadLine(session);
  let readAll = false;
  const items = async function* (): AsyncGenerator<NewItem> {
    yield* source;
    readAll = true;
  };
  try {
    return await api.submit(head, items(), (sent) => line.show(sent));
  } catch (error) {
    // With all of it sent, the job may be there: only the answer is missing.
    const became = readAll ? `it may have been submitted: see ${client.hint('jobs')}` : 'nothing was submitted';
    if (error instanceof Interrupted) throw new Interrupted(`Interrupted; ${became}.`);
    if (error instanceof Unreachable) throw new Unreachable(`${error.message}; ${became}`, { cause: error });
    throw error;
  } finally {
    line.end();
  }
}

const QUIET_MS = 1_000;
const EVERY_MS = { terminal: 200, plain: 2_000 };

/** `sending: 120,000 items, 34.0 MB`, once it takes longer than a second. */
class UploadLine {
  private shownAt: number;
  private shown = false;
  /** A chunk may be asked for still when the answer is there. */
  private ended = false;

  constructor(private readonly session: Pick<Session, 'stderr' | 'terminal' | 'clock'>) {
    const { clock, terminal } = session;
    this.shownAt = clock.now() + QUIET_MS - EVERY_MS[terminal ? 'terminal' : 'plain'];
  }

  show({ items, bytes }: Sent): void {
    const { clock, terminal, stderr } = this.session;
    const now = clock.now();
    if (this.ended || now - this.shownAt < EVERY_MS[terminal ? 'terminal' : 'plain']) return;
    this.shownAt = now;
    this.shown = true;
    const text = `sending: ${plural(items, 'item')}, ${formatBytes(bytes)}`;
    stderr.write(terminal ? `\r${text}\u001b[K` : `${text}\n`);
  }

  end(): void {
    this.ended = true;
    if (this.shown && this.session.terminal) this.session.stderr.write('\r\u001b[K');
  }
}
