import { runLine } from './fixtures/shell';

/** Nothing listens there: a line that gets so far was understood. */
const NOWHERE = ['--api', 'http://127.0.0.1:1'];

describe('help', () => {
  test('lists the commands and the exit codes', async () => {
    const { code, out } = await runLine(['--help']);
    expect(code).toBe(0);
    for (const name of 'dev api worker run submit watch jobs show results cancel pause resume log delete'.split(' ')) {
      expect(out.text).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
    expect(out.text).toContain('Exit codes:\n    0  ');
  });

  test('of a command says how a file is read', async () => {
    const { code, out } = await runLine(['help', 'submit']);
    expect(code).toBe(0);
    expect(out.text).toContain('Values stay\n          text, numbers too');
  });

  test('the version is that of the package', async () => {
    const { out } = await runLine(['--version']);
    expect(out.text).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('mistakes on the command line', () => {
  const submit = ['submit', 'f', '--capability', 'c'];
  test.each<[string, string[], string]>([
    ['no command', [], 'Usage: itemwise'],
    ['unknown command', ['wach'], "unknown command 'wach'\n(Did you mean watch?)"],
    ['unknown option', ['jobs', '--frob'], "unknown option '--frob'"],
    ['missing argument', ['watch'], "missing required argument 'job'"],
    ['too many arguments', ['watch', 'a', 'b'], 'too many arguments'],
    ['no capability', ['submit', 'f'], "required option '--capability <name>' not specified"],
    ['a state that there is not', ['jobs', '--state', 'done'], 'Allowed choices are accepted,'],
    ['an outcome that there is not', ['results', 'j', '--outcome', 'ok'], 'Allowed choices are succeeded,'],
    ['a limit that is no number', ['jobs', '--limit', 'x'], 'It is not a whole number from 1'],
    ['a label without a value', ['jobs', '--label', 'k='], 'Write key=value.'],
    ['a label twice', [...submit, '--label', 'k=1', '--label', 'k=2'], 'The label k is given twice.'],
    ['params that are no JSON', [...submit, '--params', '{a'], 'It is not JSON'],
    ['a concurrency of none', [...submit, '--concurrency', '0'], 'It is not a whole number from 1 to 1000.'],
    ['a key that no header can hold', [...submit, '--idempotency-key', 'a\nb'], 'It is not 1 to 256 characters'],
    ['an API that is no URL', ['jobs', '--api', 'localhost:8080'], 'is not the URL of an API'],
    ['an empty id', ['show', '', ...NOWHERE], 'the id of the job is empty'],
    ['a file that is not there', [...submit, ...NOWHERE], 'f: there is no such file'],
    ['--payloads without --local', ['run', 'f', '--capability', 'c', '--payloads', 'p'], 'are for --local'],
    ['--api with --local', ['run', 'f', '--capability', 'c', '--local', ...NOWHERE], '--local needs no --api'],
  ])('%s', async (_, argv, message) => {
    const { code, err } = await runLine(argv);
    expect(err.text).toContain(message);
    expect(code).toBe(2);
  });

  test('one line, and a stack only when asked for', async () => {
    const plain = await runLine(['jobs', '--api', 'x']);
    expect(plain.err.lines).toHaveLength(1);
    const debug = await runLine(['jobs', '--api', 'x'], { env: { ITEMWISE_DEBUG: '1' } });
    expect(debug.err.text).toContain('    at ');
  });
});

describe('an API that is not there', () => {
  test('is said to be so, with what starts one', async () => {
    const { code, err, out } = await runLine(['jobs', ...NOWHERE]);
    expect(code).toBe(5);
    expect(err.text).toBe(
      'itemwise: no answer from the API at http://127.0.0.1:1: nothing listens there; `itemwise dev` starts one\n',
    );
    expect(out.text).toBe('');
  });

  test('ITEMWISE_API names it too; the option goes first', async () => {
    const env = { ITEMWISE_API: 'http://127.0.0.1:2' };
    expect((await runLine(['jobs'], { env })).err.text).toContain('http://127.0.0.1:2');
    expect((await runLine(['jobs', ...NOWHERE], { env })).err.text).toContain('http://127.0.0.1:1:');
  });
});
