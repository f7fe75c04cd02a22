/** An error as it is stored and shown: bounded and readable, whatever was thrown. */
export interface ErrorInfo {
  /** Stable and machine-readable. */
  readonly code: string;
  readonly message: string;
  readonly stack?: string;
  /** The messages of its causes, nearest first. */
  readonly causes?: readonly string[];
  /** Where an input does not fit its schema. */
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
}

/** Bounds in characters and counts: an outcome of an error stays under about 12 KB. */
const MAX = { message: 2_000, stack: 4_000, cause: 500, causes: 5, issues: 20, code: 64 };

const CODE = /^[A-Za-z][A-Za-z0-9_.:-]*$/;

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;
}

/** Reads a property that may be missing, or a getter that throws. */
function read(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function describe(value: unknown): string {
  const message = read(value, 'message');
  if (typeof message === 'string') return message === '' ? 'an error without a message' : message;
  if (typeof value === 'string') return value === '' ? 'an empty text was thrown' : value;
  if (typeof value !== 'object' || value === null) return `${String(value)} was thrown`;
  try {
    return JSON.stringify(value);
  } catch {
    return 'a value that cannot be shown was thrown';
  }
}

/** The messages along a cause chain; a cyclic one ends at the bound or where it meets itself. */
function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  const seen = new Set<unknown>([error]);
  let current = read(error, 'cause');
  while (current !== undefined && !seen.has(current) && causes.length < MAX.causes) {
    seen.add(current);
    causes.push(cut(describe(current), MAX.cause));
    current = read(current, 'cause');
  }
  return causes;
}

/**
 * Anything thrown, as an ErrorInfo. The code is the error's own `code` where it has a usable one.
 * @param code overrides it.
 */
export function toErrorInfo(error: unknown, code?: string): ErrorInfo {
  const own = read(error, 'code');
  const stack = read(error, 'stack');
  const causes = causesOf(error);
  return {
    code: code ?? (typeof own === 'string' && own.length <= MAX.code && CODE.test(own) ? own : 'error'),
    message: cut(describe(error), MAX.message),
    ...(typeof stack === 'string' && { stack: cut(stackLines(stack), MAX.stack) }),
    ...(causes.length > 0 && { causes }),
  };
}

/** A stack repeats the message first; what is wanted of it is where. */
function stackLines(stack: string): string {
  const at = stack.indexOf('\n    at ');
  return at < 0 ? '' : stack.slice(at + 1);
}

/** The error of a value that does not fit its schema, with the path of each misfit. */
export function toIssues(
  code: string,
  message: string,
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): ErrorInfo {
  return {
    code,
    message,
    issues: issues.slice(0, MAX.issues).map((issue) => ({
      path: cut(issue.path.map(String).join('.') || '(the value itself)', MAX.cause),
      message: cut(issue.message, MAX.cause),
    })),
  };
}
