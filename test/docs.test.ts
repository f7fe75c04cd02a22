import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CAUSES } from '../api/why';
import { SETTINGS } from '../config';
import { ITEM_STATES, ITEM_TRANSITIONS, JOB_STATES, JOB_TRANSITIONS } from '../model/states';
import { loadRegistry } from '../runtime';
import { runPayload } from '../testing';

const read = (file: string): string => readFileSync(join(__dirname, '..', file), 'utf8');

describe('the documents say what the code does', () => {
  it('README lists every setting with its default and meaning', () => {
    const readme = read('README.md').replace(/ +/g, ' ');
    for (const { env, fallback, meaning } of Object.values(SETTINGS)) {
      expect(readme).toContain(`| \`${env}\` | ${fallback === undefined ? '' : `\`${fallback}\` `}| ${meaning} |`);
    }
    expect(readme.match(/^\| `[A-Z_]+` \|/gm)).toHaveLength(Object.keys(SETTINGS).length);
  });

  it('the payload in the README loads and runs, and is about thirty lines', async () => {
    const [, code] = /```ts\n([\s\S]*?)```/.exec(read('README.md'))!;
    expect(code!.trim().split('\n').length).toBeLessThanOrEqual(35);
    const folder = mkdtempSync(join(tmpdir(), 'itemwise-readme-'));
    try {
      writeFileSync(join(folder, 'payloads.ts'), code!);
      const payload = (await loadRegistry(join(folder, 'payloads.ts'))).get('price.quote@1')!;
      const vendor = createServer((request, response) => {
        response.statusCode = request.url!.includes('gone') ? 404 : 200;
        response.end(JSON.stringify({ amount: request.url!.includes('free') ? null : 7 }));
      });
      await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
      const baseUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
      const items = ['one', 'free', 'gone'].map((sku) => ({ id: sku, input: { sku } }));
      const reports = await runPayload(payload, items, { config: { baseUrl } });
      vendor.close();
      expect(reports).toMatchObject([
        { state: 'succeeded', result: { amount: 7, currency: 'EUR' } },
        { state: 'needs_review', reason: 'the vendor has no price' },
        { state: 'failed', error: { code: 'unknown_sku' } },
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    ['a job', JOB_TRANSITIONS, JOB_STATES],
    ['an item', ITEM_TRANSITIONS, ITEM_STATES],
  ])('docs/states.md draws every transition of %s, and no other', (what, table, states) => {
    const [, text] = read('docs/states.md').split(new RegExp(`## ${what}`, 'i'));
    const [, drawing] = /```mermaid\n([\s\S]*?)```/.exec(text!)!;
    const drawn = [...drawing!.matchAll(/^ {2}(\w+) --> (\w+): (\w+)$/gm)];
    const inCode = Object.entries<{ from: readonly string[]; to: readonly string[] }>(table).flatMap(
      ([why, { from, to }]) => from.flatMap((start) => to.map((end) => `${why}: ${start} -> ${end}`)),
    );
    expect(new Set(drawn.map(([, from, to, why]) => `${why}: ${from} -> ${to}`))).toEqual(new Set(inCode));
    for (const state of states) expect(text).toContain(`\`${state}\``);
  });

  it('docs/operations.md says of every cause of `why` what to do, and names no metric that there is not', () => {
    const operations = read('docs/operations.md');
    const causes = [...operations.matchAll(/^\| `(\w+)` +\|/gm)].map(([, cause]) => cause);
    expect(causes).toEqual([...CAUSES]);
    const metrics = read('docs/metrics.md');
    for (const [, name] of operations.matchAll(/`(itemwise_\w+)`/g)) expect(metrics).toContain(`\`${name}\``);
  });

  it('every link to a file of the project leads to one', () => {
    for (const file of [
      'README.md',
      'CONTRIBUTING.md',
      'docs/faults.md',
      'docs/guarantees.md',
      'docs/metrics.md',
      'docs/obligations.md',
      'docs/operations.md',
      'docs/performance.md',
      'docs/problems.md',
      'docs/states.md',
    ]) {
      for (const [, target] of read(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
        expect([file, target, existsSync(join(__dirname, '..', file, '..', target!))]).toEqual([file, target, true]);
      }
    }
  });

  it.each(['docs/guarantees.md', 'docs/faults.md'])('every test that %s names is there', (document) => {
    const rooms = 'test|model|store|api|activities|queue|worker|cli|payloads|testing';
    for (const [, file] of read(document).matchAll(new RegExp(`\`((?:${rooms})/[\\w./-]+\\.test\\.ts)\``, 'g'))) {
      expect([file, existsSync(join(__dirname, '..', file!))]).toEqual([file, true]);
    }
  });

  it('every fault of docs/faults.md has a test that is named after it', () => {
    for (const line of read('docs/faults.md').split('\n')) {
      const id = /^\| (C\d\d) /.exec(line)?.[1];
      if (id === undefined) continue;
      const tests = [...line.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file]) => read(file!));
      expect([id, tests.some((text) => text.includes(`${id}:`))]).toEqual([id, true]);
    }
  });
});
