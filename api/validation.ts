import type { z } from 'zod';
import { Problem, type ProblemCode } from './problems';

/** Where a value does not fit, at most twenty places. */
export function toIssueList(error: z.ZodError): { path: string; message: string }[] {
  return error.issues.slice(0, 20).map((issue) => ({ path: issue.path.map(String).join('.'), message: issue.message }));
}

/** The value as the schema makes it. @throws Problem with the paths that do not fit. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, code: ProblemCode, detail: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = toIssueList(parsed.error);
  throw new Problem(
    code,
    `${detail}: ${issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ')}`,
    { issues },
  );
}

/** A page's cursor, which is a number in text. */
export function cursor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new Problem('invalid_cursor', `${JSON.stringify(text)} is not a cursor that was given out`);
  return Number(text);
}
