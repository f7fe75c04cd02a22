import {
  findDefer,
  findReject,
  isDeclined,
  type Batch,
  type BatchContext,
  type CallInfo,
  type CallOptions,
  type Context,
  type Item,
  type Payload,
  type Vendor,
  type Wait,
} from '../../contract';
import type { Life } from './life';
import { itemWords } from './names';
import { askedOf, entered, type Attempt, type Protection, type Records } from './records';
import type { Requests, Where } from './requests';

/** What a payload is watched with. */
export interface Watch {
  readonly life: Life;
  readonly which: Attempt['life'];
  readonly records: Records;
  readonly requests: Requests;
}

/** The payload, with a point before and after whatever it asks of a vendor, and a note of each. */
export function watched(payload: Payload, watch: Watch): Payload {
  const watcher = new Watcher(watch);
  const { run, resume, batches } = payload;
  return {
    ...payload,
    waits: new Map([...payload.waits].map(([name, wait]) => [name, watcher.wait(wait)])),
    ...(run && { run: (item, ctx) => watcher.attempt('run', item, ctx, (watchedCtx) => run(item, watchedCtx)) }),
    ...(resume && {
      resume: (wait, item, ctx, answer) =>
        watcher.attempt(wait, item, ctx, (watchedCtx) => resume(wait, item, watchedCtx, answer)),
    }),
    ...(batches && { batches: (ctx) => watcher.batches(ctx, batches) }),
  };
}

class Watcher {
  /** Items run one by one: this is the attempt whose wait is started. */
  private current: Attempt | undefined;

  constructor(private readonly watch: Watch) {}

  async attempt(handler: string, item: Item, ctx: Context, code: (ctx: Context) => unknown): Promise<unknown> {
    const where: Where = { attempt: (this.current = this.begin(handler, [item.id])) };
    return this.watch.requests.here.run(where, async () => code(this.context(ctx, where)));
  }

  async batches(ctx: BatchContext, code: (ctx: BatchContext) => Promise<void>): Promise<void> {
    const where: Where = { attempt: undefined };
    const turns = (options: { size: number }): AsyncGenerator<Batch> => this.turns(ctx.batches(options), where);
    const context = inPlaceOf(this.context(ctx, where), { batches: turns });
    return this.watch.requests.here.run(where, () => code(context));
  }

  wait(wait: Wait): Wait {
    const { spec } = wait;
    const name = `wait:${wait.name}`;
    return {
      ...wait,
      spec: inPlaceOf(spec, {
        start: (args: never, info: CallInfo, ctx: never) =>
          this.call({ attempt: this.current }, name, protectionOf(spec), info, (told) => spec.start(args, told, ctx)),
        ...(spec.reconcile && {
          reconcile: (...args: Parameters<NonNullable<typeof spec.reconcile>>) =>
            this.asking(this.current, () => spec.reconcile!(...args)),
        }),
        check: async (...args: Parameters<typeof spec.check>) => {
          const answer = await this.asking(undefined, () => spec.check(...args));
          await this.watch.life.pass(
            'check',
            `after the vendor was asked about ${wait.name}, before what it said was stored`,
          );
          return answer;
        },
      }),
    };
  }

  private begin(handler: string, ids: readonly string[]): Attempt | undefined {
    return this.watch.life.dead ? undefined : this.watch.records.begin(this.watch.which, handler, ids);
  }

  private async *turns(batches: AsyncIterable<Batch>, where: Where): AsyncGenerator<Batch> {
    for await (const batch of batches) {
      const ids = batch.items.map((item) => item.id);
      where.attempt = this.begin('batches', ids);
      yield batch;
      await this.watch.life.pass('batch', `after ${itemWords(ids)} had been worked on, before the next batch`);
    }
  }

  private context<C extends Context | BatchContext>(ctx: C, where: Where): C {
    return inPlaceOf(ctx, {
      vendor: (name: string): Vendor => {
        const vendor = ctx.vendor(name);
        return {
          call: <R>(call: string, send: (info: CallInfo) => Promise<R> | R, options: CallOptions<R> = {}) =>
            vendor.call<R>(
              call,
              (info) => this.call(where, `${name}/${call}`, protectionOf(options), info, send),
              this.callOptions(where, `${name}/${call}`, options),
            ),
        };
      },
      once: <R>(name: string, effect: (key: string) => Promise<R> | R, options?: object) => {
        this.ask(where, `once/${name}`, 'effect');
        const call = (key: string): Promise<R> => {
          // An effect that takes no key has not looked at it.
          const send = (info: CallInfo): Promise<R> | R => effect(effect.length > 0 ? info.key : key);
          return this.call(where, `once/${name}`, 'effect', { key, signal: ctx.signal }, send);
        };
        return ctx.once<R>(name, call, options);
      },
    });
  }

  private callOptions<R>(where: Where, call: string, options: CallOptions<R>): CallOptions<R> {
    this.ask(where, call, protectionOf(options));
    if (!options.reconcile) return options;
    return inPlaceOf(options, {
      reconcile: (info: CallInfo) => this.asking(where.attempt, () => options.reconcile!(info)),
    });
  }

  /** The payload asks for a call, which the journal may have the result of. */
  private ask({ attempt }: Where, call: string, protection: Protection): void {
    if (attempt && !this.watch.life.dead) askedOf(attempt, call, protection);
  }

  /** The call is sent. */
  private async call<R>(
    { attempt }: Pick<Where, 'attempt'>,
    call: string,
    protection: Protection,
    info: CallInfo,
    send: (info: CallInfo) => Promise<R> | R,
  ): Promise<R> {
    const { life, requests } = this.watch;
    const of = `${call} of ${itemWords(attempt?.ids ?? [])}`;
    const kind = JSON.stringify(attempt?.ids);
    await life.pass(`send ${kind}`, `after the intent of ${of} was stored, before it was sent`);
    if (!attempt) return send(info);
    const sending = entered(askedOf(attempt, call, protection));
    const told = inPlaceOf(info, {
      get key() {
        sending.keyRead = true;
        return info.key;
      },
    });
    try {
      const result = await life.track(requests.here.run({ attempt, sending }, async () => send(told)));
      sending.end = 'answered';
      return result;
    } catch (error) {
      sending.end = isDeclined(error) || findReject(error) || findDefer(error) ? 'declined' : 'failed';
      throw error;
    } finally {
      await life.pass(`sent ${kind}`, `after ${of} ${ENDED[sending.end]}, before that was stored`);
    }
  }

  private asking<R>(attempt: Attempt | undefined, ask: () => Promise<R> | R): Promise<R> {
    return this.watch.requests.here.run({ attempt, asking: true }, async () => ask());
  }
}

const ENDED = { sending: 'was sent', answered: 'was answered', declined: 'was declined', failed: 'failed' } as const;

function protectionOf(options: { reconcile?: unknown; idempotent?: boolean }): Protection {
  if (options.reconcile) return 'reconcile';
  return options.idempotent ? 'idempotent' : 'none';
}

/** `target` with some of its properties replaced; its methods still find themselves. */
function inPlaceOf<T extends object>(target: T, replaced: object): T {
  const partOf = (name: PropertyKey): object => (Object.hasOwn(replaced, name) ? replaced : target);
  // Over an object of its own: a frozen one would not let its properties be replaced.
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(partOf(name), name, partOf(name)) as unknown,
    has: (_, name) => name in partOf(name),
    ownKeys: () => Reflect.ownKeys(target),
    getOwnPropertyDescriptor: (_, name) =>
      Object.hasOwn(target, name)
        ? { configurable: true, enumerable: true, value: Reflect.get(partOf(name), name, partOf(name)) as unknown }
        : undefined,
  });
}
