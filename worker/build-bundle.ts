/** A step of the build: makes the workflow bundle beside the compiled code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { BUNDLE_FILE } from './bundle';

async function main(): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(__dirname, '..', 'workflows'),
    logger: new DefaultLogger('WARN'),
  });
  writeFileSync(BUNDLE_FILE, code);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
