import { CliError } from '../failure';
import { EXIT, type ExitCode } from '../exit-codes';

/** RFC 9457 problem details, as far as they are shown. */
interface ProblemJson {
  title?: unknown;
  detail?: unknown;
  code?: unknown;
  issues?: unknown;
}

const MAX_ISSUES = 5;

/** What the API answered instead of what was asked for. */
export class ApiProblem extends CliError {
  override readonly name = 'ApiProblem';

  constructor(
    readonly status: number,
    readonly code: string | undefined,
    message: string,
  ) {
    super(message, exitCode(status));
  }

  /** Whether it may go well if it is tried again, as it is. */
  get passing(): boolean {
    return this.status >= 500 || this.status === 429;
  }
}

function exitCode(status: number): ExitCode {
  if (status === 502 || status === 503 || status === 504) return EXIT.unreachable;
  return status < 500 ? EXIT.usage : EXIT.unexpected;
}

/** @param body the answer's text, which may be anything. */
export function toProblem(status: number, body: string): ApiProblem {
  const problem = parse(body);
  const said = [problem.detail, problem.title].find(isText);
  if (said === undefined) return new ApiProblem(status, undefined, `the API answered ${status}`);
  const code = typeof problem.code === 'string' ? problem.code : undefined;
  return new ApiProblem(status, code, `${said}${issues(problem.issues)} (${code ?? status})`);
}

function parse(body: string): ProblemJson {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function issues(found: unknown): string {
  if (!Array.isArray(found) || found.length === 0) return '';
  const shown = found.slice(0, MAX_ISSUES).map((issue: { path?: unknown; message?: unknown } | null) => {
    return `${String(issue?.path)}: ${String(issue?.message)}`;
  });
  if (found.length > MAX_ISSUES) shown.push(`${found.length - MAX_ISSUES} more`);
  return `: ${shown.join('; ')}`;
}
