import { z } from 'zod';
import {
  Defer,
  Reject,
  defineWait,
  definePayload,
  type BatchContext,
  type Context,
  type Item,
  type Payload,
} from '../../contract';
import { BatchPerformance } from './batch-payload';
import type { Run } from './ledger';
import { codeOf, makeCall, performOnce, type PayloadWorld, type SimInput } from './payload-verbs';
import type { SimProcess } from './process';
import type { AttemptPlan, CallPlan, Step } from './script';
import { unlessAborted, type Sent } from './vendor';

const INPUT = z.object({ job: z.number(), index: z.number() });
type SimItem = Item<SimInput>;

/** Longest that an item waits for its vendor, ms. */
export const MAX_WAIT_MS = 180_000;

/** The payloads as one process has them. */
export function simPayloads(world: PayloadWorld, process: SimProcess): Payload[] {
  return [runPayload(world, process), batchPayload(world, process)];
}

const RESULT = z.object({ by: z.string(), calls: z.record(z.string(), z.string()) });

function runPayload(world: PayloadWorld, process: SimProcess): Payload {
  const { plan } = world;
  return definePayload({
    name: 'sim.run',
    version: 1,
    vocabulary: [],
    input: INPUT,
    result: RESULT,
    limits: plan.limits,
    waits: { verdict: verdict(world, process) },
    run: (item: SimItem, ctx: Context<SimInput>) => new Performance(world, process, item, ctx, 'run').play(),
    resume: {
      verdict: (item: SimItem, ctx: Context<SimInput>, answer: string) =>
        new Performance(world, process, item, ctx, 'resume', answer).play(),
    },
  } as unknown as Parameters<typeof definePayload>[0]);
}

function verdict(world: PayloadWorld, process: SimProcess) {
  const { vendor, plan, scripts } = world;
  const sent = (label: string): Sent => {
    const [job] = label.split('/');
    return { label, mode: 'reconcile', kind: 'start', deaf: false, script: scripts[Number(job)]! };
  };
  return defineWait({
    args: z.object({ label: z.string() }),
    answer: z.string(),
    every: { initial: '1s', max: '10s' },
    maxWait: MAX_WAIT_MS,
    ...(plan.maxOpen !== undefined && { maxOpen: plan.maxOpen }),
    tolerate: 3,
    checkBatch: 7,
    start: ({ label }, info) => vendor.send(process, sent(label), info),
    reconcile: ({ label }, info) => vendor.reconcile(process, sent(label), info),
    check: (ids) => vendor.check(process, ids, plan.mischief),
    cancel: (ids) => vendor.cancelWaits(process, ids, plan.mischief),
  });
}

/** One attempt of one item. */
class Performance {
  private readonly run: Run;
  private readonly attempt: AttemptPlan;
  private readonly results: Record<string, string> = {};

  constructor(
    private readonly world: PayloadWorld,
    private readonly process: SimProcess,
    private readonly item: SimItem,
    private readonly ctx: Context<SimInput>,
    kind: 'run' | 'resume',
    private readonly answer?: string,
  ) {
    const { job, index } = item.input;
    this.run = world.ledger.start(process, job, index, kind);
    this.attempt = world.scripts[job]!.attempt(index, kind, this.run.n);
  }

  /** What takes no time ends at once, as a plain function would. */
  play(): unknown {
    if (this.attempt.steps.length === 0 && !this.attempt.ending.startsWith('hang')) return this.conclude();
    return this.playSteps();
  }

  private async playSteps(): Promise<unknown> {
    try {
      for (const step of this.attempt.steps) await this.step(step);
      if (this.attempt.ending === 'hang') await unlessAborted(new Promise<never>(() => undefined), this.ctx.signal);
      if (this.attempt.ending === 'hang_deaf') await this.process.sleep(60_000);
    } catch (error) {
      this.world.ledger.end(this.run, this.ctx.signal.aborted ? 'stopped' : 'call', codeOf(error));
      throw error;
    }
    return this.conclude();
  }

  private async step(step: Step): Promise<void> {
    const { process, ctx, world } = this;
    switch (step.do) {
      case 'sleep':
        return step.deaf ? process.sleep(step.ms) : unlessAborted(process.sleep(step.ms), ctx.signal);
      case 'meter':
        this.run.meters.push(step);
        return ctx.meter('units', step.quantity, { key: step.key });
      case 'say':
        ctx.progress(1, 2, 'half');
        return ctx.log.info(`${this.run.name} says so`);
      case 'call':
        return this.call(step.call);
      case 'once':
        this.results[step.name] = await performOnce(world, process, ctx, `${this.subject}/${step.name}`, step);
        return;
      case 'die':
        world.die(process, this.run.name);
        return process.gate();
    }
  }

  private get subject(): string {
    return `${this.item.input.job}/${this.item.input.index}`;
  }

  private async call(call: CallPlan): Promise<void> {
    try {
      this.results[call.name] = await makeCall(this.world, this.process, this.ctx, this.subject, call);
    } catch (error) {
      if (!call.swallowed || this.ctx.signal.aborted) throw error;
      this.world.swallowed.add(`${this.subject}/${call.name}`);
    }
  }

  private conclude(): unknown {
    const { ending, ms } = this.attempt;
    const { ctx, run, world } = this;
    const end = (code: string | null = null): void => world.ledger.end(run, ending, code);
    switch (ending) {
      case 'throw':
        end('error');
        throw new Error(`thrown by ${run.name}`);
      case 'reject':
        end('sim_reject');
        throw new Reject(`rejected by ${run.name}`, { code: 'sim_reject' });
      case 'defer':
        end();
        throw new Defer(`deferred by ${run.name}`, { after: ms });
      case 'review':
        end();
        return ctx.review(`review by ${run.name}`, { by: run.name });
      case 'wait':
        end();
        return ctx.wait('verdict' as never, { label: `${this.subject}/wait-${this.ordinal}` });
      case 'misfit':
        end('result_invalid');
        return { by: 7 };
      default:
        end();
        return { by: run.name, calls: this.results };
    }
  }

  /** A wait that follows an answer is another one; one of another attempt is the same. */
  private get ordinal(): number {
    const [, before = '0'] = /wait-(\d+)/.exec(this.answer ?? '') ?? [];
    return Number(before) + 1;
  }
}

function batchPayload(world: PayloadWorld, process: SimProcess): Payload {
  return definePayload({
    name: 'sim.batch',
    version: 1,
    vocabulary: [],
    input: INPUT,
    result: RESULT,
    limits: world.plan.limits,
    batches: async (ctx: BatchContext<SimInput>) => {
      for await (const batch of ctx.batches({ size: 4 })) {
        await new BatchPerformance(world, process, ctx, batch).play();
      }
    },
  });
}
