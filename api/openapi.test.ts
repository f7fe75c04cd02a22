import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from 'express';
import { z } from 'zod';
import { createApp } from './app';
import { get } from './fixtures/http';
import { idleQueue, openTestApi, type TestApi } from './fixtures/test-api';
import { OPERATIONS, openApiDocument } from './openapi';
import { PROBLEMS, type ProblemCode } from './problems';

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi();
});
afterAll(() => api.stop());

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Record<string, boolean> };
  readonly handle: Partial<Router> & { readonly stack?: readonly Layer[] };
}

/** `method path` of every route below a router, in the words of OpenAPI. */
function routesOf(stack: readonly Layer[]): string[] {
  return stack.flatMap(({ route, handle }) => {
    if (!route) return handle.stack ? routesOf(handle.stack) : [];
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    return Object.keys(route.methods).map((method) => `${method} ${path}`);
  });
}

it('documents every route, and only routes', () => {
  const { store } = api;
  const app = createApp({
    runtime: {
      store,
      config: { maxItems: 1, maxBodyBytes: 1, maxUnits: 1 } as never,
      registry: { get: () => undefined, list: () => [] },
      log: console as never,
      incarnation: 'x',
    },
    queue: idleQueue(),
    lifecycle: { store, queue: idleQueue(), now: Date.now },
    tenant: 'default',
    caller: 'local',
    closing: new AbortController().signal,
  });
  const routes = routesOf((app.router as unknown as { stack: Layer[] }).stack);
  const documented = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(routes.sort()).toEqual([...documented].sort());
  expect(new Set(routes).size).toBe(routes.length);
});

it('is served as it is made, and is JSON throughout', async () => {
  const document = openApiDocument();
  expect(await get(api.url, '/openapi.json', z.unknown())).toEqual(JSON.parse(JSON.stringify(document)));
});

/** Codes that any route may answer with. */
const GENERAL: readonly ProblemCode[] = ['not_found', 'method_not_allowed', 'internal', 'store_unavailable'];

/** Codes that the source throws, by where. */
function thrown(): Map<string, string> {
  const files = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('fixtures'),
  );
  const codes = new Map<string, string>();
  for (const file of files) {
    const source = readFileSync(join(__dirname, file), 'utf8');
    for (const [, code] of source.matchAll(/new Problem\(\s*'(\w+)'/g)) codes.set(code!, file);
    for (const [, code] of source.matchAll(/parse\([^()]+, '(\w+)'/g)) codes.set(code!, file);
  }
  return codes;
}

describe('the table of problems', () => {
  const documented = new Set<string>(OPERATIONS.flatMap((operation) => operation.problems));

  it('has every code that is thrown, and no other', () => {
    expect([...thrown().keys()].sort()).toEqual(Object.keys(PROBLEMS).sort());
  });

  it('has each code documented for a route, or among the general ones', () => {
    const missing = [...thrown()].filter(([code]) => !documented.has(code) && !GENERAL.includes(code as ProblemCode));
    expect(missing).toEqual([]);
  });

  it('is found in the OpenAPI document: every code of a route under its status', () => {
    const { paths } = openApiDocument() as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    for (const { method, path, problems, answer } of OPERATIONS) {
      const { responses } = paths[path]![method]!;
      for (const code of [...problems, 'internal', 'store_unavailable'] as const)
        expect([path, responses[PROBLEMS[code].status]?.description]).toEqual([
          path,
          expect.stringContaining(`\`${code}\``),
        ]);
      expect(responses).toHaveProperty(String(answer.status));
    }
  });

  it('is what docs/problems.md says: code, status, meaning and remedy', () => {
    const docs = readFileSync(join(__dirname, '..', 'docs', 'problems.md'), 'utf8');
    const rows = docs.split('\n').filter((row) => /^\| `\w+` *\| \d/.test(row));
    const wanted = Object.entries(PROBLEMS).map(
      ([code, { status, title, remedy }]) => `| \`${code}\` | ${status} | ${title} | ${remedy} |`,
    );
    expect(rows.map((row) => row.replace(/\s+/g, ' ').trim())).toEqual(wanted);
  });
});
