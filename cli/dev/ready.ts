import type { Clock } from '../session';

const EVERY_MS = 100;
const ANSWER_MS = 3_000;

/** Waits until the API says that it is ready; false when `signal` is aborted first. `onProblem` is told why not yet. */
export async function waitUntilReady(
  api: string,
  options: { clock: Clock; signal: AbortSignal; onProblem: (problem: string) => void },
): Promise<boolean> {
  const { clock, signal, onProblem } = options;
  while (!signal.aborted) {
    const problem = await findProblem(`${api}/health/ready`, signal);
    if (problem === undefined) return true;
    onProblem(problem);
    await clock.sleep(EVERY_MS, signal);
  }
  return false;
}

async function findProblem(url: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) });
    const text = await answer.text();
    if (answer.status === 200) return undefined;
    return problemsOf(text) ?? `${url} answers ${answer.status}`;
  } catch (error) {
    return `${url} does not answer (${(error as Error).message})`;
  }
}

function problemsOf(text: string): string | undefined {
  try {
    const { problems } = JSON.parse(text) as { problems?: string[] };
    return problems && problems.length > 0 ? problems.join('; ') : undefined;
  } catch {
    return undefined;
  }
}
