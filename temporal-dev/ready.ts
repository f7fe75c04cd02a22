import { Connection } from '@temporalio/client';

const CALL_MS = 2_000;

/** The server is up within about 2 s; a poll this often costs nothing and adds no wait worth the name. */
const POLL_MS = 50;

/** gRPC's own pause before it connects again, 1 s and growing, would be most of the wait. */
const FAST_RECONNECT = { 'grpc.initial_reconnect_backoff_ms': POLL_MS, 'grpc.max_reconnect_backoff_ms': 4 * POLL_MS };

export interface ReadyOptions {
  deadlineMs: number;
  /** Gives up at once. */
  signal?: AbortSignal;
}

/**
 * Waits until the server at `address` answers for `namespace`.
 * @throws Error with the last answer when it does not within `deadlineMs`, or when `signal` is aborted.
 */
export async function waitUntilReady(
  address: string,
  namespace: string,
  { deadlineMs, signal }: ReadyOptions,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  // Without the client's own retries, which would go on for a while after `signal`.
  const connection = Connection.lazy({ address, channelArgs: FAST_RECONNECT, interceptors: [] });
  const ask = (): Promise<unknown> => connection.workflowService.describeNamespace({ namespace });
  try {
    for (;;) {
      try {
        await connection.withDeadline(Math.min(deadline, Date.now() + CALL_MS), ask);
        return;
      } catch (error) {
        if (signal?.aborted) throw new Error(`stopped waiting for the Temporal server at ${address}`);
        if (Date.now() >= deadline) throw notReady(address, namespace, deadlineMs, error);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    await connection.close();
  }
}

function notReady(address: string, namespace: string, deadlineMs: number, cause: unknown): Error {
  const last = cause instanceof Error ? cause.message : String(cause);
  const waited = `${deadlineMs / 1_000} s`;
  return new Error(
    `the Temporal server at ${address} did not answer for namespace ${namespace} in ${waited}: ${last}`,
    {
      cause,
    },
  );
}
