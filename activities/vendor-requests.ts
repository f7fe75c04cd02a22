import type { CheckContext, Payload, Wait } from '../contract';
import type { OpenWait } from '../store';
import { VENDOR_CANCEL_MS } from './deps';
import { Stopped } from './invocation';
import { lineText, plainFields } from './safe-log';
import type { Admitted } from './admitted';

/** The payload's code that asks a vendor about many items at once: of no item, and in no attempt. */
type Ask = (context: CheckContext) => unknown;
type Asked = { readonly value: unknown } | { readonly error: unknown };
type Asker = Pick<Admitted, 'deps' | 'job' | 'payload' | 'log'>;

/** Waits for the same thing, as many as their vendor is asked about at once. */
export type Chunk = readonly [Wait, readonly OpenWait[]];

/** Requests to a vendor under way at once. */
const AT_ONCE = 5;

/** Cuts waits into chunks; those that the payload does not declare, of another release of it, are left out. */
export function chunksOf(payload: Payload, waits: readonly OpenWait[]): Chunk[] {
  const chunks: Chunk[] = [];
  for (const wait of payload.waits.values()) {
    const ofWait = waits.filter((open) => open.wait === wait.name);
    for (let i = 0; i < ofWait.length; i += wait.checkBatch) chunks.push([wait, ofWait.slice(i, i + wait.checkBatch)]);
  }
  return chunks;
}

/** Works on one chunk after the other, some at once, until there is no next one. */
export async function forEachChunk(
  next: () => Chunk | undefined,
  work: (...chunk: Chunk) => Promise<void>,
): Promise<void> {
  const workOn = async (): Promise<void> => {
    for (let chunk = next(); chunk; chunk = next()) await work(...chunk);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workOn));
}

/** Asks within the item's time-out; what is not answered by then, or when `stop` is aborted, is an error. */
export function askVendor(asker: Asker, stop: AbortSignal, ask: Ask): Promise<Asked> {
  return withDeadline(asker, asker.job.plan.itemTimeoutMs, stop, ask);
}

/** Requests for many waits at once; how many were sent, and how many of them failed. */
export interface VendorCancels {
  readonly sent: number;
  readonly failed: number;
}

/** Asks the vendor to stop what is waited for, best effort: what fails is logged and counted. */
export async function cancelAtVendor(asker: Asker, wait: Wait, waits: readonly OpenWait[]): Promise<VendorCancels> {
  const { cancel } = wait.spec;
  if (!cancel) return { sent: 0, failed: 0 };
  const ids = waits.map((open) => open.remoteId);
  const never = new AbortController().signal;
  const asked = await withDeadline(asker, VENDOR_CANCEL_MS, never, (context) => cancel.call(wait.spec, ids, context));
  if ('error' in asked)
    asker.log.warn({ err: asked.error, wait: wait.name, ids: ids.length }, 'a vendor cancel failed');
  return { sent: ids.length, failed: 'error' in asked ? ids.length : 0 };
}

async function withDeadline(asker: Asker, ms: number, stop: AbortSignal, ask: Ask): Promise<Asked> {
  const { clock } = asker.deps;
  const controller = new AbortController();
  const until = clock.now() + ms;
  const abort = (reason: unknown): void => controller.abort(reason);
  const onStop = (): void => abort(stop.reason);
  const stopTicking = clock.every(Math.min(ms, 500), () => {
    if (clock.now() >= until) abort(new Stopped('timeout'));
  });
  stop.addEventListener('abort', onStop);
  if (stop.aborted) onStop();
  const given = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error));
  });
  given.catch(() => undefined);
  try {
    return { value: await Promise.race([ask(contextOf(asker, controller.signal)), given]) };
  } catch (error) {
    return { error };
  } finally {
    stopTicking();
    stop.removeEventListener('abort', onStop);
  }
}

function contextOf({ deps, job, payload, log }: Asker, signal: AbortSignal): CheckContext {
  const parsed = payload.params.safeParse(job.params);
  const line =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, fields: Record<string, unknown> = {}): void =>
      log[level](plainFields(fields), lineText(message));
  return {
    params: parsed.success ? parsed.data : job.params,
    config: deps.configOf(payload),
    signal,
    log: { info: line('info'), warn: line('warn'), error: line('error') },
  };
}
