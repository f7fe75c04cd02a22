import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { QueueUnavailable } from '../queue';
import type { Runtime } from '../runtime';

/** Time between two tries, ms: doubled from one to the next. */
const DELAY = { firstMs: 250, mostMs: 2_000 };

/** grpc.status.NOT_FOUND */
const NOT_FOUND = 5;

/**
 * Connects a worker to Temporal, waiting for one that is not up yet as long as the settings say. A namespace that there
 * is not is no matter of patience.
 * @throws QueueUnavailable with what to mend; or the reason of `stopping`.
 */
export async function connectToTemporal(
  { config, log }: Pick<Runtime, 'config' | 'log'>,
  stopping?: AbortSignal,
): Promise<NativeConnection> {
  const { temporalAddress: address, temporalPatienceMs } = config;
  const until = performance.now() + temporalPatienceMs;
  for (let delay = DELAY.firstMs; ; delay = Math.min(delay * 2, DELAY.mostMs)) {
    try {
      const connection = await connectWithin(address, until - performance.now());
      await findNamespace(connection, config.temporalNamespace);
      return connection;
    } catch (error) {
      if (error instanceof QueueUnavailable) throw error;
      if (performance.now() + delay > until) {
        throw new QueueUnavailable(
          `Temporal at ${address} could not be reached within ${temporalPatienceMs / 1_000} s: check TEMPORAL_ADDRESS, or start one with 'npm run temporal'`,
          { cause: error },
        );
      }
      log.warn({ address, err: error }, 'Temporal cannot be reached yet; trying again');
      await sleep(delay, undefined, { signal: stopping }).catch(() => stopping?.throwIfAborted());
    }
  }
}

/** An address that swallows what is sent to it would hold a try for longer than the patience. */
async function connectWithin(address: string, ms: number): Promise<NativeConnection> {
  const connecting = NativeConnection.connect({ address });
  const late = new AbortController();
  const tooLate = sleep(ms, undefined, { signal: late.signal }).then(() => {
    connecting.then((connection) => connection.close()).catch(() => undefined);
    throw new Error('it does not answer');
  });
  try {
    return await Promise.race([connecting, tooLate]);
  } finally {
    late.abort();
    tooLate.catch(() => undefined);
  }
}

/** @throws QueueUnavailable when there is no such namespace. What else may be wrong with it the worker will meet. */
async function findNamespace(connection: NativeConnection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (!isGrpcServiceError(error) || (error.code as number) !== NOT_FOUND) return;
    await connection.close();
    throw new QueueUnavailable(
      `Temporal has no namespace ${JSON.stringify(namespace)}: check TEMPORAL_NAMESPACE, or make it with 'temporal operator namespace create -n ${namespace}'`,
      { cause: error },
    );
  }
}
