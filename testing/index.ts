/**
 * What the tests of a payload need: published as `itemwise/testing`.
 *
 *   run-payload.ts   runs a payload over items, in the test's own process
 *   crash/           runs it again and again, and has the process die at another await each time
 *   job.ts           the job and the worker of either   rounds.ts   units, one round after the other
 *   report.ts        what became of an item
 *   test-clock.ts    real time, of which waits are skipped
 *
 * It uses no test runner, so that any will do.
 */
export { crashPayload, type CrashOptions, type CrashReport } from './crash';
export type { Finding, FindingKind, Repeat, SentRequest } from './crash';
export type { TestItem } from './job';
export { runPayload, type RunPayloadOptions } from './run-payload';
export type { ItemReport, ReportedLine, ReportedUsage } from './report';
