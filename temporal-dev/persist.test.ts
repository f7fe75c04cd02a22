import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withTempDir } from './fixtures/helpers';
import { databaseFile } from './persist';

describe('databaseFile', () => {
  test.each([
    ['runs.db', 'runs.db'],
    ['dev/runs.sqlite', 'dev/runs.sqlite'],
    ['.itemwise', '.itemwise/temporal.db'],
    ['data', 'data/temporal.db'],
    ['data.d/', 'data.d/temporal.db'],
  ])('%s, not there yet, means %s', async (persistTo, file) => {
    await withTempDir(async (dir) => expect(await databaseFile(`${dir}/${persistTo}`)).toBe(join(dir, file)));
  });

  test('what exists is what it is, whatever its name', async () => {
    await withTempDir(async (dir) => {
      await mkdir(join(dir, 'folder.db'));
      await writeFile(join(dir, 'file'), '');
      expect(await databaseFile(join(dir, 'folder.db'))).toBe(join(dir, 'folder.db', 'temporal.db'));
      expect(await databaseFile(join(dir, 'file'))).toBe(join(dir, 'file'));
    });
  });
});
