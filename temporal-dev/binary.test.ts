import { mkdir, readdir, readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { findTemporalBinary, temporalCacheDir, TemporalUnavailable, type FindOptions } from './binary';
import { withTempDir, writeScript } from './fixtures/helpers';
import { run, type Run } from './run';

const CACHED = 'temporal-v1.5.1';
const VERSION_SCRIPT = 'echo "temporal version 1.5.1 (Server 1.29.1)"';

interface World {
  bin: string;
  cacheDir: string;
  options: FindOptions;
  said: string[];
}

/** What the SDK's download does in a test: `dir` is where it puts the file. */
type FakeDownload = (dir: string) => Promise<void>;

const offline: FakeDownload = async () => {
  throw new Error('dns error');
};

/** Programs are real scripts, but the download, which is the only one that node runs, is not. */
function fakeRun(download: FakeDownload): Run {
  return async (file, args, options) => {
    if (file !== process.execPath) return run(file, args, options);
    expect(options.timeoutMs).toBe(120_000);
    await download(args[3] as string);
    return '';
  };
}

/** Nothing of this machine: an empty folder as PATH, an empty cache, and no internet. */
async function inWorld(test: (world: World) => Promise<void>, download: FakeDownload = offline): Promise<void> {
  await withTempDir(async (dir) => {
    const bin = join(dir, 'bin');
    const cacheDir = join(dir, 'cache');
    await mkdir(bin);
    const said: string[] = [];
    const options = { env: { PATH: bin }, cacheDir, onProgress: (m: string) => said.push(m), run: fakeRun(download) };
    await test({ bin, cacheDir, options, said });
  });
}

/** A `go` whose `install` writes a binary that does `binaryBody`. */
function writeGo(bin: string, binaryBody: string, after = ''): Promise<string> {
  const write = `printf '#!/bin/sh\\n%s\\n' '${binaryBody}' > "$GOBIN/temporal"; /bin/chmod 755 "$GOBIN/temporal"`;
  return writeScript(join(bin, 'go'), `echo "$@" > "${bin}/go-args"\n${write}\n${after}`);
}

describe('findTemporalBinary', () => {
  test('on PATH first', () =>
    inWorld(async ({ bin, cacheDir, options }) => {
      await mkdir(cacheDir);
      await writeScript(join(cacheDir, CACHED), VERSION_SCRIPT);
      const path = await writeScript(join(bin, 'temporal'), VERSION_SCRIPT);
      expect(await findTemporalBinary(options)).toEqual({ path, how: 'path' });
    }));

  test.each([
    ['answers as another program', 'echo "temporal logic solver 3"'],
    ['fails', 'echo "wrong architecture" >&2; exit 126'],
    ['does not end', 'while :; do :; done'],
  ])('one on PATH that %s is passed over for the cached one', (_, body) =>
    inWorld(async ({ bin, cacheDir, options }) => {
      await mkdir(cacheDir);
      const path = await writeScript(join(cacheDir, CACHED), VERSION_SCRIPT);
      const broken = await writeScript(join(bin, 'temporal'), body);
      const hurried: Run = (file, args, given) => {
        expect(given.timeoutMs).toBe(5_000);
        return run(file, args, { ...given, timeoutMs: file === broken ? 500 : 20_000 });
      };
      expect(await findTemporalBinary({ ...options, run: hurried })).toEqual({ path, how: 'cache' });
    }),
  );

  test('a download is checked, put into the cache, and found there the next time', () =>
    inWorld(
      async ({ cacheDir, options, said }) => {
        const path = join(cacheDir, CACHED);
        expect(await findTemporalBinary(options)).toEqual({ path, how: 'download' });
        expect(await readdir(cacheDir)).toEqual([CACHED]);
        expect(said).toEqual(['downloading the Temporal dev server (once) …']);
        expect(await findTemporalBinary(options)).toEqual({ path, how: 'cache' });
      },
      async (dir) => void (await writeScript(join(dir, 'temporal-cli-v1.5.1'), VERSION_SCRIPT)),
    ));

  test('a download counts when only the start after it failed', () =>
    inWorld(
      async ({ options }) => expect((await findTemporalBinary(options)).how).toBe('download'),
      async (dir) => {
        await writeScript(join(dir, 'temporal-cli-v1.5.1'), VERSION_SCRIPT);
        throw new Error('did not start within 5 s');
      },
    ));

  test('half a download does not count', () =>
    inWorld(
      async ({ cacheDir, options }) => {
        await expect(findTemporalBinary(options)).rejects.toThrow('connection reset');
        expect(await readdir(cacheDir)).toEqual([]);
      },
      async (dir) => {
        await writeScript(join(dir, 'temporal-cli-v1.5.1.downloading'), VERSION_SCRIPT);
        throw new Error('connection reset');
      },
    ));

  test('is built with Go at last, and found in the cache the next time', () =>
    inWorld(async ({ bin, cacheDir, options, said }) => {
      await writeGo(bin, VERSION_SCRIPT);
      const path = join(cacheDir, CACHED);
      expect(await findTemporalBinary(options)).toEqual({ path, how: 'built' });
      expect(await readFile(join(bin, 'go-args'), 'utf8')).toBe(
        'install github.com/temporalio/cli/cmd/temporal@v1.5.1\n',
      );
      expect(await readdir(cacheDir)).toEqual([CACHED]);
      expect(said).toContain('building the Temporal dev server with Go (once, about 3 minutes) …');
      expect(await findTemporalBinary(options)).toEqual({ path, how: 'cache' });
    }));

  test('two builds at once leave one whole binary', () =>
    inWorld(async ({ bin, cacheDir, options }) => {
      // Each waits for the other one's folder, so that they do overlap.
      const other = `while set -- "${cacheDir}"/obtaining-*; [ $# -lt 2 ] && [ ! -e "${cacheDir}/${CACHED}" ]; do :; done`;
      await writeGo(bin, VERSION_SCRIPT, other);
      const found = await Promise.all([findTemporalBinary(options), findTemporalBinary(options)]);
      const built = { path: join(cacheDir, CACHED), how: 'built' };
      expect(found).toEqual([built, built]);
      expect(await readdir(cacheDir)).toEqual([CACHED]);
    }));

  test.each([
    ['a killed build', VERSION_SCRIPT, 'kill -9 $$', 'ended with SIGKILL'],
    ['a build of something that does not work', 'exit 1', '', '--version failed'],
  ])('%s leaves nothing in the cache', (_, body, after, reason) =>
    inWorld(async ({ bin, cacheDir, options }) => {
      await writeGo(bin, body, after);
      await expect(findTemporalBinary(options)).rejects.toThrow(reason);
      expect(await readdir(cacheDir)).toEqual([]);
    }),
  );

  test('removes what a killed process left long ago, and leaves what is at work', () =>
    inWorld(async ({ cacheDir, options }) => {
      const [abandoned, busy] = [join(cacheDir, 'obtaining-old'), join(cacheDir, 'obtaining-new')];
      for (const dir of [abandoned, busy]) await mkdir(dir, { recursive: true });
      const twoHoursAgo = Date.now() / 1_000 - 7_200;
      await utimes(abandoned, twoHoursAgo, twoHoursAgo);
      await expect(findTemporalBinary(options)).rejects.toThrow(TemporalUnavailable);
      expect(await readdir(cacheDir)).toEqual(['obtaining-new']);
    }));

  test('when nothing works, one message says what was tried and what to install', () =>
    inWorld(async ({ cacheDir, options }) => {
      const error = await findTemporalBinary(options).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TemporalUnavailable);
      expect((error as Error).message).toBe(
        [
          'There is no Temporal server to use, and none could be started. Tried:',
          '  - `temporal` on PATH: not found',
          `  - the cache, ${join(cacheDir, CACHED)}: not there`,
          "  - the Temporal SDK's download: dns error",
          '  - a build with Go: go was not found',
          'Do one of these:',
          '  - install the Temporal CLI: https://docs.temporal.io/cli',
          '  - install Go 1.25 or newer, with which the Temporal CLI is built once',
          '  - set TEMPORAL_ADDRESS to the address of a running server, such as 127.0.0.1:7233',
        ].join('\n'),
      );
    }));
});

describe('temporalCacheDir', () => {
  test('the environment, else the folder of the user', () => {
    expect(temporalCacheDir({ ITEMWISE_TEMPORAL_CACHE: '/somewhere' })).toBe('/somewhere');
    expect(temporalCacheDir({})).toMatch(/itemwise/);
  });
});
