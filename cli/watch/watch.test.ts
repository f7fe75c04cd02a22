import type { ItemJson } from '../client/api';
import { Interrupted, Unreachable, UsageError } from '../failure';
import { job } from '../fixtures/fake-api';
import { FakeClock, Sink } from '../fixtures/shell';
import { patiently, PATIENCE_MS } from './patience';
import { createProgress } from './progress';
import { PlainProgress } from './plain-progress';
import { Rate } from './rate';
import { headline, summarize } from './summary';

const signal = new AbortController().signal;
const away = new Unreachable('no answer');

describe('patience', () => {
  test('an outage is waited for, with growing delays, and told once', async () => {
    const clock = new FakeClock();
    const notices: string[] = [];
    let calls = 0;
    const work = async (): Promise<string> => {
      if (++calls < 4) throw away;
      return 'here';
    };
    expect(await patiently(work, { clock, signal, notice: (text) => notices.push(text) })).toBe('here');
    expect(clock.slept).toEqual([500, 1_000, 2_000]);
    expect(notices).toEqual(['no answer; trying again for 1 min 0 s', 'the API is back, after 3.5 s']);
  });

  test('it ends after its time, with the error', async () => {
    const clock = new FakeClock();
    const work = (): Promise<never> => Promise.reject(away);
    await expect(patiently(work, { clock, signal, notice: () => undefined })).rejects.toBe(away);
    expect(clock.now()).toBe(PATIENCE_MS);
  });

  test('what will not pass is thrown at once', async () => {
    const clock = new FakeClock();
    const work = (): Promise<never> => Promise.reject(new UsageError('no such job'));
    await expect(patiently(work, { clock, signal, notice: () => undefined })).rejects.toThrow('no such job');
    expect(clock.slept).toEqual([]);
  });

  test('a Ctrl-C ends the waiting', async () => {
    const stop = new AbortController();
    const work = async (): Promise<never> => {
      if (stop.signal.aborted) throw new Interrupted();
      stop.abort();
      throw away;
    };
    const running = patiently(work, { clock: new FakeClock(), signal: stop.signal, notice: () => undefined });
    await expect(running).rejects.toBe(away);
  });
});

describe('plain progress', () => {
  test('a line when something changed, at most every two seconds, and at the end', async () => {
    const clock = new FakeClock();
    const stderr = new Sink();
    const progress = new PlainProgress({ stderr, clock });
    const succeeded = [0, 0, 1, 2, 3, 3, 3, 4];
    for (const done of succeeded) {
      progress.update(job({ counts: { succeeded: done } }));
      await clock.sleep(1_000);
    }
    progress.notice('a notice');
    progress.update(job({ state: 'completed_with_errors', counts: { succeeded: 9, failed: 1 } }));
    progress.end();
    expect(stderr.lines).toEqual([
      '0/10 running: 0 ok',
      '1/10 running: 1 ok (1/s)',
      '3/10 running: 3 ok (1/s)',
      '4/10 running: 4 ok (1/s)',
      'a notice',
      '10/10 completed_with_errors: 9 ok, 1 failed (1/s)',
    ]);
  });

  test('all that a job can say of itself', () => {
    const stderr = new Sink();
    const counts = { succeeded: 1, failed: 2, needs_review: 3, skipped: 1, waiting: 1, deferred: 1, pending: 1 };
    new PlainProgress({ stderr, clock: new FakeClock() }).update(job({ state: 'paused', counts }));
    expect(stderr.text).toBe('7/10 paused: 1 ok, 2 failed, 3 to review, 1 skipped, 2 waiting\n');
  });
});

describe('the bar', () => {
  test('is drawn on a terminal, and a notice stands on a line of its own', () => {
    const stderr = Object.assign(new Sink(), { isTTY: true, columns: 200 });
    const progress = createProgress({ stderr, terminal: true, clock: new FakeClock() });
    progress.update(job({ counts: { succeeded: 5 } }));
    progress.notice('a notice');
    progress.update(job({ state: 'succeeded', counts: { succeeded: 10 } }));
    progress.end();
    expect(stderr.text).toContain('50% 5/10 running: 5 ok');
    expect(stderr.lines).toContain('a notice');
    expect(stderr.text).toContain('100% 10/10 succeeded: 10 ok');
    // Line wrapping, which the bar turns off, is on again.
    expect(stderr.text.lastIndexOf('\u001b[?7h')).toBeGreaterThan(stderr.text.lastIndexOf('\u001b[?7l'));
  });
});

describe('rate', () => {
  test('is that of the last ten seconds', () => {
    const rate = new Rate();
    expect(rate.perSecond()).toBeUndefined();
    rate.add(0, 0);
    expect(rate.perSecond()).toBeUndefined();
    for (let second = 1; second <= 20; second++) rate.add(second * 1_000, second * 10);
    for (let second = 21; second <= 30; second++) rate.add(second * 1_000, 200 + (second - 20) * 50);
    expect(rate.perSecond()).toBe(50);
  });
});

describe('summary', () => {
  const hint = (command: string): string => `itemwise ${command}`;

  test('counts, what failed first, and where to look', async () => {
    const ended = job({
      state: 'completed_with_errors',
      counts: { succeeded: 6, failed: 2, needs_review: 1, skipped: 1 },
      statement: {
        items: 10,
        outcomes: { succeeded: 6, failed: 2, needs_review: 1, skipped: 1 },
        attempts: 12,
        ...{ deferrals: 0, waits: 0, recoveries: 0, vendorCalls: { made: 0, unanswered: 0 } },
        usage: { tokens: 7 },
        phases: { queuedMs: 1_000, runningMs: 3_000, pausedMs: 0, cancellingMs: 0 },
      },
    });
    const error = { code: 'c', message: 'm' };
    const failed: ItemJson = { id: 'A', index: 0, state: 'failed', attempts: 1, error, finishedAt: null };
    const items = async (): Promise<ItemJson[]> => [failed];
    expect((await summarize(ended, { items }, hint)).split('\n')).toEqual([
      'job-1 (item.echo@1) completed_with_errors in 3.0 s: 6 succeeded, 1 to review, 2 failed, 1 skipped of 10 items',
      '  used: 7 tokens',
      '  failed: A: c: m',
      '  all that failed: itemwise results job-1 --outcome failed',
      '  run it again: itemwise retry job-1',
      '  to review: itemwise results job-1 --outcome needs_review',
      '  Temporal: http://127.0.0.1:8233/namespaces/default/workflows/job-1',
    ]);
  });

  test('stands without the failures when they cannot be read', async () => {
    const items = (): Promise<never> => Promise.reject(away);
    const ended = job({ state: 'failed', counts: { failed: 10 }, temporal: { workflowId: 'job-1', url: null } });
    expect(await summarize(ended, { items }, undefined)).toBe(`job-1 (item.echo@1) ${headline(ended)}`);
  });
});
