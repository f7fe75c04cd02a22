import { closeSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kept, play } from './fixtures/helpers';
import { readStarted, StartedFile } from './started-log';
import { WatchedProcess } from './watched-process';

describe('the started log', () => {
  let folder: string;
  let file: string;
  let started: StartedFile;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'itemwise-started-'));
    file = join(folder, 'started');
    started = new StartedFile(file);
  });
  afterEach(() => {
    started.close();
    rmSync(folder, { recursive: true });
  });

  const item = (index: number) => ({ jobNo: 1, generation: 2, seq: 3, index });

  it('holds the last item of each place', () => {
    const [one, two] = [started.place(), started.place()];
    expect(readStarted(file)).toEqual([]);
    one.enter(item(0), 0);
    two.enter(item(1), 1);
    one.enter({ jobNo: 2 ** 50, generation: 5, seq: 2 ** 31 }, 299_999);
    expect(readStarted(file)).toEqual([{ jobNo: 2 ** 50, generation: 5, seq: 2 ** 31, index: 299_999 }, item(1)]);
  });

  it('uses free places again, and does not grow with the items', () => {
    for (let index = 0; index < 1_000; index++) {
      const place = started.place();
      place.enter(item(index), index);
      if (index > 4) place.free();
    }
    expect(readStarted(file).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(statSync(file).size).toBe(6 * 64);
  });

  it('a place that was given back may be taken again, and given back twice', () => {
    const place = started.place();
    place.free();
    place.enter(item(0), 0);
    place.free();
    place.free();
    const [one, two] = [started.place(), started.place()];
    one.enter(item(1), 1);
    two.enter(item(2), 2);
    place.enter(item(3), 3);
    expect(readStarted(file)).toHaveLength(3);
  });

  it('is never a file that is there already', () => {
    expect(() => new StartedFile(file)).toThrow('EEXIST');
  });

  it('fails no item when it cannot be written, and says so once', () => {
    const errors: unknown[] = [];
    const full = new StartedFile(join(folder, 'full'), (error) => errors.push(error));
    const place = full.place();
    closeSync((full as unknown as { fd: number }).fd);
    place.enter(item(0), 0);
    place.enter(item(1), 1);
    place.free();
    expect(errors).toMatchObject([{ code: 'EBADF' }]);
  });

  it('is there after kill -9', async () => {
    const process = new WatchedProcess(play('started'), {
      ownGroup: true,
      stderr: new Kept(),
      onMessage: () => undefined,
    });
    const { signal, why, started } = await process.ended;
    expect(signal).toBe('SIGKILL');
    expect(why.code).toBe('killed');
    expect(started).toEqual([
      { jobNo: 2 ** 40, generation: 3, seq: 4, index: 297 },
      { jobNo: 2 ** 40, generation: 3, seq: 4, index: 299 },
    ]);
  });
});
