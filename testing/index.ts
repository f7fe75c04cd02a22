/**
 * What the tests of a payload need: published as `itemwise/testing`.
 *
 *   run-payload.ts   runs a payload over items, in the test's own process
 *   report.ts        what became of an item
 *   test-clock.ts    real time, of which waits are skipped
 *
 * It uses no test runner, so that any will do.
 */
export { runPayload, type RunPayloadOptions, type TestItem } from './run-payload';
export type { ItemReport, ReportedLine, ReportedUsage } from './report';
