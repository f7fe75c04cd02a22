import { Defer, Reject, type Batch, type BatchContext, type Item } from '../../contract';
import type { Run } from './ledger';
import { codeOf, makeCall, type PayloadWorld, type SimInput } from './payload-verbs';
import type { SimProcess } from './process';
import type { AttemptPlan } from './script';
import { unlessAborted } from './vendor';

interface Part {
  readonly item: Item<SimInput>;
  readonly run: Run;
  readonly attempt: AttemptPlan;
}

/** One batch: a paid call for all of it, if its members want one, and what becomes of each. */
export class BatchPerformance {
  private readonly parts: readonly Part[];
  private readonly results: Record<string, string> = {};

  constructor(
    private readonly world: PayloadWorld,
    private readonly process: SimProcess,
    private readonly ctx: BatchContext<SimInput>,
    private readonly batch: Batch<SimInput>,
  ) {
    this.parts = batch.items.map((item) => {
      const { job, index } = item.input;
      const run = world.ledger.start(process, job, index, 'batch');
      return { item, run, attempt: world.scripts[job]!.attempt(index, 'run', run.n) };
    });
  }

  async play(): Promise<void> {
    try {
      await this.call();
      for (const part of this.parts) await this.playPart(part);
    } catch (error) {
      const how = this.ctx.signal.aborted ? 'stopped' : 'call';
      for (const { run } of this.parts) this.world.ledger.end(run, how, codeOf(error));
      throw error;
    }
  }

  private async call(): Promise<void> {
    const { job } = this.parts[0]!.item.input;
    const members = this.parts.map(({ item }) => item.input.index);
    const subject = `${job}/b${members.join('+')}`;
    for (const call of this.world.scripts[job]!.calls(`b${members.join('+')}`)) {
      try {
        this.results[call.name] = await makeCall(this.world, this.process, this.ctx, subject, call);
      } catch (error) {
        if (!call.swallowed || this.ctx.signal.aborted) throw error;
        this.world.swallowed.add(`${subject}/${call.name}`);
      }
    }
  }

  private async playPart(part: Part): Promise<void> {
    const { process, ctx, world } = this;
    for (const step of part.attempt.steps) {
      if (step.do === 'sleep')
        await (step.deaf ? process.sleep(step.ms) : unlessAborted(process.sleep(step.ms), ctx.signal));
      if (step.do === 'meter') {
        part.run.meters.push(step);
        ctx.meter('units', step.quantity, { key: step.key, item: part.item });
      }
      if (step.do === 'die') {
        world.die(process, part.run.name);
        await process.gate();
      }
    }
    if (part.attempt.ending === 'hang') await unlessAborted(new Promise<never>(() => undefined), ctx.signal);
    if (part.attempt.ending === 'hang_deaf') await process.sleep(60_000);
    this.conclude(part);
  }

  private conclude({ item, run, attempt: { ending, ms } }: Part): void {
    const { ctx, batch, world } = this;
    const end = (code: string | null = null): void => world.ledger.end(run, ending, code);
    switch (ending) {
      case 'throw':
        end('error');
        return batch.settle(item, new Error(`thrown by ${run.name}`));
      case 'reject':
        end('sim_reject');
        return batch.settle(item, new Reject(`rejected by ${run.name}`, { code: 'sim_reject' }));
      case 'defer':
        end();
        return batch.settle(item, new Defer(`deferred by ${run.name}`, { after: ms }));
      case 'review':
        end();
        return batch.settle(item, ctx.review(`review by ${run.name}`, { by: run.name }));
      case 'misfit':
        end('result_invalid');
        return batch.settle(item, { by: 7 });
      case 'leave':
        return end('not_settled');
      default:
        end();
        return batch.settle(item, { by: run.name, calls: this.results });
    }
  }
}
