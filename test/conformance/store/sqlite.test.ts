import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../../../store';
import { storeConformance, type Opened } from './suite';

async function openFresh(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'itemwise-store-'));
  const clock = { now: 1_700_000_000_000 };
  const stores: Store[] = [];
  const reopen = async (): Promise<Store> => {
    const store = await openStore({ file: join(folder, 'store.sqlite'), patienceMs: 10_000, now: () => clock.now });
    stores.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of stores) await store.close();
    await rm(folder, { recursive: true });
  };
  return { store: await reopen(), reopen, clock, dispose };
}

storeConformance('SQLite', openFresh);
