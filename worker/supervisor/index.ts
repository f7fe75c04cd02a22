/**
 * Keeps a worker running as a child process.
 *
 *   supervisor.ts  starts it, and starts it again     suspects.ts  says in the store which items had started in it
 */
export type { SupervisorClock } from './clock';
export { Supervisor, type SupervisorEnd } from './supervisor';
export { Suspects, type SuspectStore } from './suspects';
