import { Defer, Reject, definePayload, z, type Context, type Item, type Payload } from '../../contract';

/** What an item's attempts do, one word an attempt; the last one is repeated. */
export type Act = 'ok' | 'fail' | 'reject' | 'defer' | 'review';

const script = z.object({ acts: z.array(z.enum(['ok', 'fail', 'reject', 'defer', 'review'])).default(['ok']) });

export interface Scripted {
  readonly payload: Payload;
  /** How often each item was run, by id. */
  readonly runs: Map<string, number>;
}

/** A payload that does as each item's script says, and counts. */
export function scripted(): Scripted {
  const runs = new Map<string, number>();
  const payload = definePayload({
    name: 'test.script',
    version: 1,
    vocabulary: [],
    input: script,
    result: z.object({ ran: z.number() }),
    limits: { backoff: { initial: '1ms' } },
    run: async (item, ctx) => {
      const ran = (runs.get(item.id) ?? 0) + 1;
      runs.set(item.id, ran);
      await Promise.resolve();
      const acts = item.input.acts;
      switch (acts[Math.min(ran, acts.length) - 1]) {
        case 'fail':
          throw Object.assign(new Error('it did not work'), { code: 'boom' });
        case 'reject':
          throw new Reject('it will never work', { code: 'hopeless' });
        case 'defer':
          throw new Defer('not yet', { after: 1 });
        case 'review':
          return ctx.review('look at this', { ran });
        default:
          return { ran };
      }
    },
  });
  return { payload, runs };
}

export interface Gated {
  readonly payload: Payload;
  /** Ids of items that have started, in order. */
  readonly started: string[];
  readonly ended: string[];
  /** Told of each start. */
  onStart: () => void;
  /** Told when a running item hears of a cancel. */
  onCancel: () => void;
  /** Lets every item go on, now and later. */
  open(): void;
}

/** A payload whose items wait at a gate; cooperative ones leave when they are told to stop. */
export function gated(options: { deaf?: boolean; concurrency?: number; itemTimeout?: number } = {}): Gated {
  const started: string[] = [];
  const ended: string[] = [];
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const run = async (item: Item, ctx: Context): Promise<{ ok: true }> => {
    started.push(item.id);
    gatedPayload.onStart();
    ctx.onCancel(() => gatedPayload.onCancel());
    const told = new Promise<void>((_, reject) => {
      if (options.deaf) return;
      const leave = (): void => reject(ctx.signal.reason as Error);
      if (ctx.signal.aborted) leave();
      else ctx.signal.addEventListener('abort', leave);
    });
    await Promise.race([gate, told]);
    ended.push(item.id);
    return { ok: true };
  };
  const payload = definePayload({
    name: 'test.gate',
    version: 1,
    vocabulary: [],
    input: z.looseObject({}),
    result: z.object({ ok: z.literal(true) }),
    limits: {
      concurrency: options.concurrency ?? 10,
      itemTimeout: options.itemTimeout ?? 30_000,
      backoff: { initial: '1ms' },
    },
    run,
  });
  const gatedPayload: Gated = { payload, started, ended, onStart: () => undefined, onCancel: () => undefined, open };
  return gatedPayload;
}
