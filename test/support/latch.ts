/** A promise with its handle: what tests wait on instead of sleeping. */
export interface Latch<T = void> {
  readonly promise: Promise<T>;
  readonly open: (value: T) => void;
}

export function latch<T = void>(): Latch<T> {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open };
}

/** Resolves when the signal is aborted, with its reason. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  const { promise, open } = latch<unknown>();
  if (signal.aborted) open(signal.reason);
  else signal.addEventListener('abort', () => open(signal.reason));
  return promise;
}
