import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporalBinary, SEARCH_ATTRIBUTES, startDevServer, type DevServer } from '../../temporal-dev';
import { freePort } from '../support/free-port';
import type { Chaos } from './chaos';

/** A Temporal server of a scenario's own, which it may stop and start at the same address. */
export interface OwnTemporal {
  readonly address: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * One that is not started yet, and ends with the scenario.
 * @param keep whether it still has its data when it is started again.
 */
export async function ownTemporal(chaos: Chaos, keep: boolean): Promise<OwnTemporal> {
  const { path } = await findTemporalBinary({ env: process.env });
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'itemwise-temporal-'));
  let server: DevServer | undefined;
  const own: OwnTemporal = {
    address: `127.0.0.1:${port}`,
    start: async () => {
      server = await startDevServer({
        binary: path,
        port,
        headless: true,
        searchAttributes: SEARCH_ATTRIBUTES,
        ...(keep && { dbFile: join(folder, 'temporal.db') }),
      });
      assert.equal(server.address, own.address, 'the port of Temporal was taken by another process');
    },
    stop: async () => {
      await server?.stop();
      server = undefined;
    },
  };
  chaos.atEnd(async () => {
    await own.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return own;
}
