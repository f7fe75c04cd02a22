import { createServer } from 'node:net';
import { UsageError } from '../failure';

/**
 * Fails early, and not after Temporal was fetched and started, when the port cannot be had. Port 0 is always free.
 * @throws UsageError
 */
export function requireFreePort(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be had: ${error.message}`;
      reject(new UsageError(`port ${port} of ${host} ${why}; --port 0 takes a free one`, { cause: error }));
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
