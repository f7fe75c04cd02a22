import http, { type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Problem } from '../problems';
import { Bell } from './bell';
import { OpenStreams } from './open-streams';
import { Outlet } from './outlet';

/** More than a connection takes while its other end reads nothing. */
const PIECE = 'x'.repeat(1_000_000);

/** An answer that is under way, and the client's end of its connection, which reads nothing until it is told to. */
async function connect(): Promise<{ response: ServerResponse; client: net.Socket }> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause().on('error', () => undefined);
  const requested = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
  const [, response] = await requested;
  server.close();
  opened.push({ response, client });
  return { response, client };
}
const opened: { response: ServerResponse; client: net.Socket }[] = [];
afterEach(() => {
  for (const { response, client } of opened.splice(0)) {
    response.destroy();
    client.destroy();
  }
});

/** Sends until the reader's end is full; the send that waits. */
async function fill(outlet: Outlet, response: ServerResponse): Promise<{ sent: number; waiting: Promise<void> }> {
  for (let sent = 1; ; sent++) {
    const waiting = outlet.send(PIECE);
    const turned = new Promise<'turned'>((resolve) => setTimeout(resolve, 20, 'turned'));
    if ((await Promise.race([waiting, turned])) === 'turned' && response.writableNeedDrain) return { sent, waiting };
  }
}

describe('an outlet', () => {
  it('holds no more than one piece for a reader that does not read, and goes on when it does', async () => {
    const { response, client } = await connect();
    const outlet = new Outlet(response, () => undefined);
    const { sent, waiting } = await fill(outlet, response);
    expect(response.writableLength).toBeLessThan(PIECE.length * 1.1);
    client.resume();
    await waiting;
    expect(sent).toBeLessThan(100);
    expect(outlet.closed).toBe(false);
  });

  it('cuts a reader off that takes nothing for too long', async () => {
    const { response } = await connect();
    let ended = 0;
    const outlet = new Outlet(response, () => ended++, 300);
    const { waiting } = await fill(outlet, response);
    await waiting;
    expect([outlet.closed, ended, response.destroyed]).toEqual([true, 1, true]);
    await outlet.send(PIECE);
    expect(ended).toBe(1);
  });

  it('lets go of a reader that vanishes, be it in the middle of a piece', async () => {
    const { response, client } = await connect();
    const gone = new Bell();
    const outlet = new Outlet(response, () => gone.ring());
    const { waiting } = await fill(outlet, response);
    client.resetAndDestroy();
    await waiting;
    expect(await gone.wait(1)).toBe(true);
    expect(outlet.closed).toBe(true);
  });

  it('when it is stopped, does not wait for a slow reader', async () => {
    const { response } = await connect();
    const outlet = new Outlet(response, () => undefined);
    const { waiting } = await fill(outlet, response);
    outlet.stop();
    await waiting;
    expect(response.destroyed).toBe(true);
  });
});

describe('a bell', () => {
  it('wakes who waits, keeps a ring for who will wait, and tells when none came', async () => {
    const bell = new Bell();
    const waiting = bell.wait(60_000);
    bell.ring();
    expect(await waiting).toBe(true);
    expect(await bell.wait(1)).toBe(false);
    bell.ring();
    bell.ring();
    expect(await bell.wait(60_000)).toBe(true);
    expect(await bell.wait(1)).toBe(false);
  });
});

describe('open streams', () => {
  it('are so many and no more; a place that is given back is free', () => {
    const streams = new OpenStreams(new AbortController().signal, 2);
    const give = streams.enter(() => undefined);
    streams.enter(() => undefined);
    expect(() => streams.enter(() => undefined)).toThrow(Problem);
    give();
    give();
    expect(streams.size).toBe(1);
    streams.enter(() => undefined);
    expect(streams.size).toBe(2);
  });

  it('are stopped when the API shuts down, those too that come late', () => {
    const closing = new AbortController();
    const streams = new OpenStreams(closing.signal);
    let stopped = 0;
    const give = streams.enter(() => {
      stopped++;
      give();
    });
    closing.abort();
    expect([stopped, streams.size]).toEqual([1, 0]);
    streams.enter(() => stopped++);
    expect(stopped).toBe(2);
  });
});
