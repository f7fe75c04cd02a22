import assert from 'node:assert/strict';
import type { Scenario } from '../chaos';
import { FINALIZE_STEPS, arm, hasDied } from '../steps';

export const killFinalize: Scenario = {
  name: 'kill the worker at each step of finalize',
  about: 'kill -9 of the worker proper at five steps of the transaction that closes a job; another takes over',
  run: async (chaos) => {
    await chaos.open({ preload: ['die-at'] });
    // Two, since a supervisor takes its time with a worker that dies again and again.
    await chaos.service.startWorker();
    await chaos.service.startWorker();
    const jobs: string[] = [];
    for (const step of FINALIZE_STEPS) {
      for (let round = 0; round < chaos.sized(1, 3); round++) {
        arm(chaos, 'worker-process', step);
        const id = await chaos.submitOrders(chaos.between(1, 30), [0, 20]);
        jobs.push(id);
        const job = await chaos.service.ended(id);
        await chaos.until(`the worker dies at the step: ${step.name}`, () => hasDied(chaos));
        assert.equal(job.state, 'succeeded');
        const { lines } = await chaos.service.get<{ lines: { message: string }[] }>(`/v1/jobs/${id}/log`);
        assert.equal(
          lines.filter((line) => line.message.startsWith('closed as')).length,
          1,
          `${step.name}: closed once`,
        );
      }
    }
    return { faults: jobs.length, jobs };
  },
};
