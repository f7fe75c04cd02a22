import { withProgress } from './progress';

describe('withProgress', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test('says what begins, then the elapsed time about every 15 s until it ends', async () => {
    const said: string[] = [];
    const result = await withProgress(
      'building',
      (message) => said.push(message),
      async () => {
        jest.advanceTimersByTime(40_000);
        return 'built';
      },
    );
    expect(result).toBe('built');
    expect(said).toEqual(['building …', 'building … 15 s', 'building … 30 s']);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a failure passes', async () => {
    const work = async (): Promise<never> => {
      throw new Error('no compiler');
    };
    await expect(withProgress('building', () => undefined, work)).rejects.toThrow('no compiler');
    expect(jest.getTimerCount()).toBe(0);
  });
});
