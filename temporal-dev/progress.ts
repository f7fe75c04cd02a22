export type OnProgress = (message: string) => void;

/** Often enough to show that it lives, seldom enough not to fill a log. */
const EVERY_MS = 15_000;

/** Does `work` and says `what` when it begins, and again with the elapsed time every 15 s until it ends. */
export async function withProgress<T>(what: string, onProgress: OnProgress, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  onProgress(`${what} …`);
  const timer = setInterval(() => {
    onProgress(`${what} … ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
