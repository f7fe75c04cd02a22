import type { JobState } from '../model/states';

/** What the exit code of every command says; `itemwise --help` shows this table. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  errors: 3,
  cancelled: 4,
  unreachable: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, 'done; a job that was followed succeeded (needs_review is no error); a server was told to stop'],
  [EXIT.unexpected, 'an unexpected error'],
  [EXIT.usage, 'usage or bad input: an option, the file, or what the API refused (4xx)'],
  [EXIT.errors, 'the job that was followed ended as completed_with_errors or failed'],
  [EXIT.cancelled, 'the job that was followed was cancelled'],
  [EXIT.unreachable, 'the API or Temporal cannot be reached'],
  [EXIT.interrupted, 'interrupted'],
];

export function exitCodesHelp(): string {
  const lines = MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`);
  return ['Exit codes:', ...lines].join('\n');
}

/** The exit code of a command that followed a job to this state. */
export function exitCodeOf(state: JobState): ExitCode {
  if (state === 'completed_with_errors' || state === 'failed') return EXIT.errors;
  return state === 'cancelled' ? EXIT.cancelled : EXIT.ok;
}
