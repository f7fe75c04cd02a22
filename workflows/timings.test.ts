import { workflowTimings } from './timings';

it('timeouts nest: a unit that uses its budget and then runs an item to its deadline has time left to say so', () => {
  for (const itemTimeoutMs of [1, 30_000, 3_600_000]) {
    const { startToCloseMs, heartbeatTimeoutMs } = workflowTimings({
      unitBudgetMs: 60_000,
      itemTimeoutMs,
      heartbeatTimeoutMs: 10_000,
    });
    expect(startToCloseMs - 60_000 - itemTimeoutMs).toBeGreaterThanOrEqual(10_000);
    expect(heartbeatTimeoutMs).toBe(10_000);
  }
});
