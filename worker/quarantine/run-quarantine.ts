import { runSuspects } from '../../activities';
import type { Runtime } from '../../runtime';
import { activityDeps } from '../activity-deps';
import { serveSuspects } from './serve';

/** This process as a quarantine process, on the store and the payloads of the worker that started it. */
export function runQuarantine(runtime: Runtime): Promise<void> {
  const draining = new AbortController();
  const deps = activityDeps(runtime, { draining: draining.signal });
  return serveSuspects({
    run: (request, onStart) => runSuspects(deps, request, onStart),
    drain: () => draining.abort(),
  });
}
