/** What a worker tells its supervisor when it takes work. */
export interface Working {
  readonly is: 'working';
  readonly taskQueue: string;
}

/** @returns false when nobody has started it as a supervisor does. */
export function tellWorking(taskQueue: string): boolean {
  const message: Working = { is: 'working', taskQueue };
  return process.send?.(message) ?? false;
}

export function isWorking(message: unknown): message is Working {
  return typeof message === 'object' && message !== null && (message as Partial<Working>).is === 'working';
}
