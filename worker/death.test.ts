import { unhandledRejection, whyItDied, uncaughtException, type ProcessEnd } from './death';
import { MemoryWords } from './memory-words';

const END: ProcessEnd = { code: null, signal: null, outOfMemory: false, reason: undefined };

describe('why a process died', () => {
  it.each<[string, Partial<ProcessEnd>, string, RegExp]>([
    ['exit', { code: 3 }, 'exited', /exit code 3: something called process\.exit\(\); throw an error instead/],
    ['exit with 0', { code: 0 }, 'exited', /exit code 0/],
    ['SIGKILL', { signal: 'SIGKILL' }, 'killed', /SIGKILL: by the system when memory ran out/],
    ['SIGSEGV', { signal: 'SIGSEGV' }, 'killed', /crashed with SIGSEGV: look at the native modules/],
    ['SIGHUP', { signal: 'SIGHUP' }, 'killed', /ended with SIGHUP/],
    ['out of memory', { signal: 'SIGABRT', outOfMemory: true }, 'out_of_memory', /heap limit \d+ MB\): give .* less/],
    ['the same under a shell', { code: 134, outOfMemory: true }, 'out_of_memory', /--max-old-space-size/],
    ['an exit after a log line about memory', { code: 1, outOfMemory: true }, 'exited', /exit code 1/],
    ['SIGABRT', { signal: 'SIGABRT' }, 'killed', /crashed with SIGABRT/],
    ['a reason', { signal: 'SIGKILL', reason: { code: 'its_own', message: 'words' } }, 'its_own', /^words$/],
  ])('%s', (_, end, code, message) => {
    const why = whyItDied({ ...END, ...end });
    expect(why.code).toBe(code);
    expect(why.message).toMatch(message);
  });

  it('of an error keeps its message and stack', () => {
    const error = Object.assign(new Error('the words'), { code: 'E_OWN' });
    expect(unhandledRejection(error)).toMatchObject({
      code: 'unhandled_rejection',
      message: 'a promise was rejected and nothing handled it (the words): await it, or catch its error',
      stack: expect.stringContaining('death.test.ts'),
    });
    expect(uncaughtException('text')).toMatchObject({
      code: 'uncaught_exception',
      message: expect.stringContaining('(text)'),
    });
  });
});

describe("V8's last words", () => {
  const words = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n';

  it('are found wherever a chunk ends', () => {
    for (let cut = 0; cut <= words.length; cut++) {
      const memory = new MemoryWords();
      memory.look(Buffer.from(`before\n${words.slice(0, cut)}`));
      memory.look(Buffer.from(`${words.slice(cut)}after`));
      memory.look(Buffer.from('x'.repeat(10_000)));
      expect(memory.seen).toBe(true);
    }
  });

  it('are not found where they are not', () => {
    const memory = new MemoryWords();
    memory.look(Buffer.from('an item is out of memory\n'));
    expect(memory.seen).toBe(false);
  });
});
