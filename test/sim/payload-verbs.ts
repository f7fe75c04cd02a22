import type { CallInfo, Context } from '../../contract';
import type { Ledger } from './ledger';
import type { SeedPlan } from './plan';
import type { SimProcess } from './process';
import type { CallPlan, Script } from './script';
import type { Sent, Vendor } from './vendor';

/** What payloads of the simulator stand on. */
export interface PayloadWorld {
  readonly plan: SeedPlan;
  readonly ledger: Ledger;
  readonly vendor: Vendor;
  /** By job. */
  readonly scripts: readonly Script[];
  /** A run ends the process that it is in. */
  readonly die: (process: SimProcess, run: string) => void;
  /** Labels of calls that failed and without which a payload went on. */
  readonly swallowed: Set<string>;
}

export interface SimInput {
  readonly job: number;
  readonly index: number;
}

/** A paid call of an item or a batch. */
export function makeCall(
  world: PayloadWorld,
  process: SimProcess,
  ctx: Pick<Context, 'vendor'>,
  subject: string,
  { name, mode, deaf }: CallPlan,
): Promise<string> {
  const { vendor, scripts } = world;
  const script = scripts[Number(subject.split('/')[0])]!;
  const sent: Sent = { label: `${subject}/${name}`, mode, kind: 'vendor', deaf, script };
  return ctx.vendor('acme').call(name, (info) => vendor.send(process, sent, info), {
    args: { name },
    idempotent: mode === 'idempotent' || mode === 'both',
    ...((mode === 'reconcile' || mode === 'both') && {
      reconcile: (info: CallInfo) => vendor.reconcile(process, sent, info),
    }),
    cancel: (info) => vendor.stop(process, sent, info),
  });
}

/** An effect: it is kept how often it took place. */
export function performOnce(
  { ledger }: PayloadWorld,
  process: SimProcess,
  ctx: Pick<Context, 'once'>,
  label: string,
  { name, ms }: { name: string; ms: number },
): Promise<string> {
  return ctx.once(name, async () => {
    const done = ledger.effects.get(label) ?? [];
    const effect = { startedAt: process.clock.now(), doneAt: null as number | null };
    ledger.effects.set(label, [...done, effect]);
    await process.sleep(ms);
    effect.doneAt = process.clock.now();
    return `${label}#${done.length + 1}`;
  });
}

export function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? (error as Error | undefined)?.name ?? 'error';
}
