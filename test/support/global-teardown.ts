import { rmSync } from 'node:fs';

export default async function globalTeardown(): Promise<void> {
  await globalThis.__temporal?.stop();
  if (globalThis.__testFolder) rmSync(globalThis.__testFolder, { recursive: true, force: true });
}
