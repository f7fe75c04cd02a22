import { Router } from 'express';
import { z } from 'zod';
import type { Registry } from '../../contract';
import { WORKER_SILENT_MS } from '../../queue';
import type { ApiContext } from '../context';
import { MAX_STREAMS } from '../events';
import { MAX_INPUT_BYTES } from '../intake/upload';
import { openApiDocument } from '../openapi';

/** How many stuck jobs `/health/deep` names. */
const STUCK_LIMIT = 50;

export function serviceRoutes(context: ApiContext): Router {
  const router = Router();
  const manifest = buildManifest(context);
  const openapi = openApiDocument();

  router.get('/v1/manifest', (_request, response) => {
    response.json(manifest);
  });
  router.get('/openapi.json', (_request, response) => {
    response.json(openapi);
  });
  router.get('/health/live', (_request, response) => {
    response.json({ status: 'ok', problems: [] });
  });
  router.get('/health/ready', async (_request, response) => {
    const problems = await findProblems(context);
    response
      .status(problems.length === 0 ? 200 : 503)
      .json({ status: problems.length === 0 ? 'ok' : 'unavailable', problems });
  });
  router.get('/health/deep', async (_request, response) => {
    const problems = await findProblems(context);
    const { store } = context.runtime;
    const reads = await Promise.all([
      store.workers(Date.now() - WORKER_SILENT_MS),
      store.stuckJobs(STUCK_LIMIT),
      store.openDeadLetters(),
    ]).catch(() => undefined);
    const [workers, stuck, deadLetters] = reads ?? [[], [], 0];
    const warnings = [...context.queue.warnings()];
    if (reads && workers.length === 0) warnings.push('no worker is alive: jobs wait');
    if (stuck.length > 0)
      warnings.push(
        `${stuck.length} jobs are stuck: items without an outcome were sent again twice and still have none`,
      );
    if (deadLetters > 0)
      warnings.push(`${deadLetters} dead letters wait to be dealt with: GET /v1/dead-letters?replayed=false`);
    response.status(problems.length === 0 ? 200 : 503).json({
      status: problems.length === 0 ? 'ok' : 'unavailable',
      problems,
      warnings,
      workers: workers.map((worker) => ({
        ...worker,
        startedAt: new Date(worker.startedAt).toISOString(),
        beatAt: new Date(worker.beatAt).toISOString(),
      })),
      deadLetters: reads ? deadLetters : null,
      stuckJobs: stuck.map(({ job, missing, items }) => ({ id: job.id, missing, items: [...items] })),
    });
  });
  return router;
}

async function findProblems({ runtime, queue }: ApiContext): Promise<string[]> {
  const [store, ailment] = await Promise.all([
    runtime.store.check().then(
      () => undefined,
      (error: unknown) => `the store: ${error instanceof Error ? error.message : String(error)}`,
    ),
    queue.ailment().then((found) => found && `the queue: ${found}`),
  ]);
  return [store, ailment].filter((problem) => problem !== undefined);
}

/** A schema that cannot be shown as JSON Schema is shown as "anything". */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): unknown {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any' });
}

function buildManifest({ runtime }: ApiContext): object {
  const { config, registry } = runtime;
  return {
    capabilities: registry.list().map((payload) => ({
      capability: payload.capability,
      name: payload.name,
      version: payload.version,
      description: payload.description,
      takes: payload.batches ? 'batches' : 'items',
      input: jsonSchema(payload.input, 'input'),
      params: jsonSchema(payload.params, 'input'),
      result: jsonSchema(payload.result, 'output'),
      limits: payload.limits,
    })),
    ceilings: [
      { name: 'items', scope: 'job', value: config.maxItems, setBy: 'ITEMWISE_MAX_ITEMS' },
      { name: 'body bytes', scope: 'submit', value: config.maxBodyBytes, setBy: 'ITEMWISE_MAX_BODY_BYTES' },
      { name: 'input bytes', scope: 'item', value: MAX_INPUT_BYTES, setBy: 'the release' },
      { name: 'event streams', scope: 'API process', value: MAX_STREAMS, setBy: 'the release' },
      {
        name: 'units',
        scope: 'worker',
        value: config.maxUnits,
        setBy: 'ITEMWISE_MAX_UNITS of each worker, see /health/deep',
      },
      ...waitCeilings(registry),
    ],
  };
}

/** Most waits of a kind that are open at once, as the payloads that wait have set it. */
function waitCeilings(registry: Registry): object[] {
  return registry.list().flatMap(({ capability, waits }) =>
    [...waits.values()]
      .filter((wait) => wait.maxOpen !== null)
      .map((wait) => ({
        name: `open waits: ${wait.name}`,
        scope: `all jobs of ${capability}`,
        value: wait.maxOpen,
        setBy: 'the payload',
      })),
  );
}
