import net from 'node:net';
import { createParser } from 'eventsource-parser';

/** How often a slow reader reads, ms. */
const EVERY_MS = 250;

/** A reader of a job's events over a bare socket, which takes so many bytes a second and no more. */
export interface SlowReader {
  /** Ids of the events that had one, in order. */
  readonly ids: readonly number[];
  /** Kinds of the events that came. */
  readonly kinds: readonly string[];
  readonly bytes: number;
  /** Whether the answer has begun. */
  readonly begun: boolean;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  /** From now on it reads as fast as it can. */
  hurry(): void;
  /** Gone, with or without a word. */
  vanish(how: 'reset' | 'end'): void;
}

export interface SlowReaderOptions {
  readonly url: string;
  readonly path: string;
  readonly bytesPerSecond: number;
  readonly lastEventId?: string | undefined;
}

export function readSlowly({ url, path, bytesPerSecond, lastEventId }: SlowReaderOptions): SlowReader {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  const ids: number[] = [];
  const kinds: string[] = [];
  let bytes = 0;
  let head: string | undefined = '';
  const parser = createParser({
    onEvent: ({ id, event = '' }) => {
      if (id) ids.push(Number(id));
      kinds.push(event);
    },
  });
  const take = (text: string): void => {
    bytes += text.length;
    if (head === undefined) return parser.feed(text);
    head += text;
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const body = head.slice(end + 4);
    head = undefined;
    parser.feed(body);
  };
  // HTTP/1.0: the answer is not chunked, and ends with the connection.
  const id = lastEventId === undefined ? '' : `Last-Event-ID: ${lastEventId}\r\n`;
  socket.write(`GET ${path} HTTP/1.0\r\n${id}\r\n`);
  socket.setEncoding('latin1').on('error', () => undefined);
  const share = Math.ceil((bytesPerSecond * EVERY_MS) / 1_000);
  const sip = (): void => {
    const text = (socket.read(Math.min(share, socket.readableLength || 1)) ?? '') as string;
    if (text !== '') take(text);
  };
  const timer = setInterval(sip, EVERY_MS);
  const ended = new Promise<void>((resolve) => {
    socket.on('end', resolve).on('close', () => resolve());
  }).finally(() => clearInterval(timer));
  // Without a listener of its own the stream would flow.
  socket.on('readable', () => undefined);
  return {
    ids,
    kinds,
    get bytes() {
      return bytes;
    },
    get begun() {
      return head === undefined;
    },
    ended,
    hurry: () => {
      clearInterval(timer);
      socket.removeAllListeners('readable');
      socket.on('data', (text: string) => take(text));
      socket.resume();
    },
    vanish: (how) => {
      clearInterval(timer);
      if (how === 'reset') socket.resetAndDestroy();
      else socket.destroy();
    },
  };
}
