import fc from 'fast-check';
import { JOB_STATES, JOB_TRANSITIONS, OUTCOMES, endState, isTerminal, type OutcomeCounts } from './states';

const count = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300_000 }));
const counts: fc.Arbitrary<OutcomeCounts> = fc.record(
  Object.fromEntries(OUTCOMES.map((outcome) => [outcome, count])) as Record<(typeof OUTCOMES)[number], typeof count>,
);
const transitions = Object.values(JOB_TRANSITIONS);

describe('the state that a job closes with', () => {
  it('is terminal, and one that `finish` leads to', () => {
    fc.assert(
      fc.property(counts, (of) => {
        expect(isTerminal(endState(of))).toBe(true);
        expect(JOB_TRANSITIONS['finish']!.to).toContain(endState(of));
      }),
    );
  });

  it('follows from which outcomes there are, not from how many', () => {
    fc.assert(
      fc.property(counts, ({ succeeded, failed, needs_review, skipped }) => {
        const good = succeeded + needs_review > 0;
        let expected = 'succeeded';
        if (failed > 0) expected = good ? 'completed_with_errors' : 'failed';
        if (skipped > 0) expected = 'cancelled';
        expect(endState({ succeeded, failed, needs_review, skipped })).toBe(expected);
      }),
    );
  });

  it.each([
    [{}, 'succeeded'],
    [{ needs_review: 3 }, 'succeeded'],
    [{ failed: 3 }, 'failed'],
    [{ failed: 3, needs_review: 1 }, 'completed_with_errors'],
    [{ failed: 299_999, succeeded: 1 }, 'completed_with_errors'],
    [{ succeeded: 5, skipped: 1 }, 'cancelled'],
  ])('of %j is %s', (some, expected) => {
    expect(endState({ succeeded: 0, failed: 0, needs_review: 0, skipped: 0, ...some })).toBe(expected);
  });
});

describe('the table of transitions', () => {
  it('leads out of no terminal state, and out of every other one to an end', () => {
    const open = JOB_STATES.filter((state) => !isTerminal(state));
    for (const { from } of transitions) for (const state of from) expect(isTerminal(state)).toBe(false);
    expect([...JOB_TRANSITIONS['finish']!.from].sort()).toEqual([...open].sort());
  });

  it('leads into terminal states by `finish` only', () => {
    for (const [why, { to }] of Object.entries(JOB_TRANSITIONS)) {
      expect([why, to.some(isTerminal)]).toEqual([why, why === 'finish']);
    }
  });

  it('reaches every state from `accepted`', () => {
    const reached = new Set(['accepted']);
    for (let before = 0; before < reached.size;) {
      before = reached.size;
      for (const { from, to } of transitions) {
        if (from.some((state) => reached.has(state))) for (const state of to) reached.add(state);
      }
    }
    expect([...reached].sort()).toEqual([...JOB_STATES].sort());
  });

  it('changes the state with every transition, and never undoes a cancel', () => {
    for (const { from, to } of transitions) for (const state of to) expect(from).not.toContain(state);
    const outOfCancelling = transitions.filter(({ from }) => from.includes('cancelling'));
    expect(outOfCancelling).toEqual([JOB_TRANSITIONS['finish']]);
  });

  it('lets every open job but one being cancelled be cancelled', () => {
    const open = JOB_STATES.filter((state) => !isTerminal(state) && state !== 'cancelling');
    expect([...JOB_TRANSITIONS['cancel']!.from].sort()).toEqual([...open].sort());
  });
});
