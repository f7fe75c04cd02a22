/**
 * Crashes a payload at every await.
 *
 *   crash-payload.ts  a run without a crash, and one for each crash point
 *   life.ts           a process that may die    points.ts   where      writes.ts  around which writes
 *   watched.ts        the payload, with points and notes around what it asks of vendors
 *   requests.ts       HTTP requests that go out beside that
 *   records.ts        what was seen             find.ts     what is wrong with it      report.ts  how it is said
 */
export { crashPayload, type CrashOptions } from './crash-payload';
export type { CrashReport, Finding, FindingKind, Repeat } from './report';
export type { SentRequest } from './requests';
