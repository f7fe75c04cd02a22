import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import { ensureTemporal, type Temporal } from '../../temporal-dev';

declare global {
  var __temporal: Temporal | undefined;
  var __testFolder: string | undefined;
}

/** Once for all integration tests: a Temporal dev server of their own, and the workflow bundle of the sources. */
export default async function globalSetup(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'itemwise-test-'));
  globalThis.__testFolder = folder;
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(__dirname, '..', '..', 'workflows'),
    logger: new DefaultLogger('WARN'),
  });
  const bundle = join(folder, 'workflows.bundle.js');
  writeFileSync(bundle, code);
  // A server that the person runs is not for tests: they fill it with jobs.
  const env = { ...process.env, TEMPORAL_ADDRESS: '' };
  globalThis.__temporal = await ensureTemporal({ env, onProgress: (line) => console.error(line) });
  process.env['TEST_TEMPORAL_ADDRESS'] = globalThis.__temporal.address;
  process.env['TEST_WORKFLOW_BUNDLE'] = bundle;
}
