/**
 * Runs items that may have killed a worker one by one in a process of their own.
 *
 *   quarantine-process.ts  the worker's side: starts the process and hears how it ends
 *   run-quarantine.ts      the process itself
 *   serve.ts               its side: runs what it is asked to and says which item is next
 *   messages.ts            what they say to each other
 */
export { QuarantineProcess, type QuarantineOptions } from './quarantine-process';
export { runQuarantine } from './run-quarantine';
