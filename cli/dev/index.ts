/**
 * Temporal, the API and a worker as processes of a development machine.
 *
 *   start-dev.ts     all of it, until it is ready     settings.ts     what they are started with
 *   announced.ts     a child process of ours          log-line.ts     their logs, for a person
 *   until-stopped.ts Ctrl-C
 */
export { formatLogLine } from './log-line';
export { startDev, type Dev, type DevOptions } from './start-dev';
export { untilStopped } from './until-stopped';
