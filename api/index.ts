/**
 * The HTTP surface.
 *
 *   schemas.ts   requests and responses      problems.ts  every error, one table
 *   app.ts       Express put together        openapi.ts   every route, documented
 *   intake/      a submit on its way in      routes/      the rest, by subject
 *   retry.ts     jobs that retry others      why/         what a job waits for
 *   events/      what watchers are told      metrics/     what Prometheus is told
 */
export { createApp } from './app';
export type { ApiContext } from './context';
export { OPERATIONS, openApiDocument } from './openapi';
export { PROBLEMS, Problem, type ProblemCode } from './problems';
export type { DeadLetterDetailJson, DeadLetterJson, RetriedJson } from './lineage-schemas';
export type { ItemJson, JobJson, LogLineJson, ProgressJson, WhyJson } from './schemas';
export { startApi, type RunningApi } from './server';
