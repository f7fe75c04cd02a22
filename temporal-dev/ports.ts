import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** The only interface the dev server listens on: it has no authentication. */
export const HOST = '127.0.0.1';

/** `preferred` when it is free, else (or when it is 0) a free port. Another process may take it before it is used. */
export async function pickPort(preferred: number, taken: readonly number[] = []): Promise<number> {
  for (let wanted = preferred; ; wanted = 0) {
    const port = await tryListen(wanted);
    if (port !== undefined && !taken.includes(port)) return port;
  }
}

/** The port that was listened on for a moment (0: one of the system's choice), undefined when it is not to be had. */
function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, HOST, () => {
      const listening = (server.address() as AddressInfo).port;
      server.close(() => resolve(listening));
    });
  });
}
