import assert from 'node:assert/strict';
import type { JobJson } from '../../../api';
import { parse, type Proc } from '../../support/service';
import { nodeOptions, type Chaos, type Scenario } from '../chaos';
import { rowsOf } from '../rows';
import { SUBMIT_STEPS, arm, hasDied, type Step } from '../steps';

/** Over the time after which an upload that nothing was added to is taken for broken, ms. */
const BROKEN_MS = 660_000;

export const killApi: Scenario = {
  name: 'kill the API at each step of a submit',
  about: 'kill -9 of the API at ten steps; then the same again: one job with the key, one or none without, never half',
  run: async (chaos) => {
    await chaos.open({ preload: ['die-at'], api: false });
    const submitter = new Submitter(chaos, await chaos.service.startApi());
    await chaos.service.startWorker();
    const keyless = chaos.sized(
      SUBMIT_STEPS.filter(() => chaos.random() < 0.3),
      SUBMIT_STEPS,
    );
    for (const step of SUBMIT_STEPS) await submitter.withKey(step);
    for (const step of keyless) await submitter.withoutKey(step);
    await dropBroken(chaos, submitter.api);
    const jobs = await listed(chaos);
    for (const { id } of jobs) await chaos.service.ended(id);
    return { faults: submitter.deaths, jobs: jobs.map(({ id }) => id), note: `${jobs.length} jobs` };
  },
};

class Submitter {
  deaths = 0;

  constructor(
    private readonly chaos: Chaos,
    public api: Proc,
  ) {}

  async withKey(step: Step): Promise<void> {
    const { service } = this.chaos;
    const inputs = this.chaos.orderInputs(this.chaos.between(1, 40), [0, 20]);
    const before = await listed(this.chaos);
    await this.die(step, inputs, step.name);
    const again = await service.send('test.order', inputs, { key: step.name });
    assert.equal(again.status, 202, `${step.name}: sent again`);
    const { id, items } = await parse<JobJson>(again);
    assert.equal(items, inputs.length, step.name);
    const added = (await listed(this.chaos)).filter((job) => !before.some((known) => known.id === job.id));
    assert.deepEqual(
      added.map((job) => job.id),
      [id],
      `${step.name}: one job for the key`,
    );
  }

  async withoutKey(step: Step): Promise<void> {
    const inputs = this.chaos.orderInputs(this.chaos.between(1, 40), [0, 20]);
    const before = await listed(this.chaos);
    await this.die(step, inputs);
    const added = (await listed(this.chaos)).slice(0, -before.length || undefined);
    const sealed = SUBMIT_STEPS.indexOf(step) > SUBMIT_STEPS.findIndex(({ name }) => name.includes('job is written'));
    assert.deepEqual(
      added.map((job) => job.items),
      sealed ? [inputs.length] : [],
      `${step.name}: all of it or nothing`,
    );
  }

  /** Submits to an API that dies at the step, and starts another one. */
  private async die(step: Step, inputs: readonly object[], key?: string): Promise<void> {
    const { chaos } = this;
    arm(chaos, 'api', step);
    const sent = chaos.service.send('test.order', inputs, key === undefined ? {} : { key });
    // Answered or not: what it is worth is seen afterwards.
    await sent.catch(() => undefined);
    await this.api.exited;
    assert(hasDied(chaos), `the API died at the step: ${step.name}`);
    this.deaths++;
    this.api = await chaos.service.startApi();
  }
}

/** The newest first. */
async function listed({ service }: Chaos): Promise<JobJson[]> {
  return (await service.get<{ jobs: JobJson[] }>('/v1/jobs?limit=1000')).jobs;
}

/** What broke off is swept once it is old, which it is for an API whose clock is ahead; nothing of it is left then. */
async function dropBroken(chaos: Chaos, api: Proc): Promise<void> {
  assert(rowsOf(chaos).uploads > 0, 'something broke off');
  api.kill('SIGKILL');
  await api.exited;
  const ahead = await chaos.service.startApi({
    ...nodeOptions(['shift-clock']),
    TEST_CLOCK_SHIFT_MS: String(BROKEN_MS),
  });
  await chaos.until('broken uploads are swept', () => rowsOf(chaos).uploads === 0);
  assert.equal(rowsOf(chaos).strays, 0, 'items of no job');
  ahead.kill('SIGKILL');
  await ahead.exited;
  await chaos.service.startApi();
}
