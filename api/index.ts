/**
 * The HTTP surface.
 *
 *   schemas.ts   requests and responses      problems.ts  every error, one table
 *   app.ts       Express put together        openapi.ts   every route, documented
 *   intake/      a submit on its way in      routes/      the rest, by subject
 */
export { createApp } from './app';
export type { ApiContext } from './context';
export { OPERATIONS, openApiDocument } from './openapi';
export { PROBLEMS, Problem, type ProblemCode } from './problems';
export type { ItemJson, JobJson } from './schemas';
export { startApi, type RunningApi } from './server';
