import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadRegistry } from './load-registry';

const PAYLOAD = `definePayload({
  name: 'team.own', version: 2, vocabulary: [], input: z.object({}), result: z.object({}), run: () => ({}),
})`;

describe('a payloads module of a team', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'itemwise-payloads-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const capabilities = async (path: string): Promise<string[]> =>
    (await loadRegistry(path)).list().map((payload) => payload.capability);

  it.each([
    [
      'payloads.ts',
      `import { definePayload, z } from 'itemwise/contract';\nconst one: unknown = ${PAYLOAD};\nexport default [one];`,
    ],
    ['payloads.mjs', `import { definePayload, z } from 'itemwise/contract';\nexport const payloads = [${PAYLOAD}];`],
    ['payloads.cjs', `const { definePayload, z } = require('itemwise/contract');\nmodule.exports = [${PAYLOAD}];`],
    ['single.ts', `import { definePayload, z } from 'itemwise/contract';\nexport default ${PAYLOAD};`],
  ])('is loaded from %s, wherever it lies', async (name, text) => {
    expect(await capabilities(write(name, text))).toEqual(['team.own@2']);
  });

  it('is refused with a clear message when it is not there, does not load, or exports something else', async () => {
    await expect(loadRegistry(join(folder, 'none.ts'))).rejects.toThrow(/there is no payloads module/);
    await expect(loadRegistry(write('broken.ts', 'export default ['))).rejects.toThrow(
      /cannot load the payloads module/,
    );
    await expect(loadRegistry(write('other.ts', 'export default [1]'))).rejects.toThrow(/must export an array/);
    await expect(loadRegistry(write('empty.ts', 'export default []'))).rejects.toThrow(/must export an array/);
  });

  it('is refused when two of its payloads have one name', async () => {
    const text = `import { definePayload, z } from 'itemwise/contract';\nexport default [${PAYLOAD}, ${PAYLOAD}];`;
    await expect(loadRegistry(write('twice.ts', text))).rejects.toThrow(/two payloads are named team.own@2/);
  });

  it('is the built-in one when none is named', async () => {
    expect((await loadRegistry(undefined)).get('item.echo')?.version).toBe(1);
  });
});
