import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

/** Where the build leaves the workflow bundle, so that a worker starts without bundling. */
export const BUNDLE_FILE = join(__dirname, '..', 'workflows.bundle.js');

let bundled: Promise<WorkflowBundleOption> | undefined;

/** The workflow code for a worker: the build's bundle, or one made here, once a process, when run from the sources. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  bundled ??= existsSync(BUNDLE_FILE)
    ? Promise.resolve({ codePath: BUNDLE_FILE })
    : bundleWorkflowCode({ workflowsPath: join(__dirname, '..', 'workflows') });
  return bundled;
}
