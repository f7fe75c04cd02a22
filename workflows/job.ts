import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { PaceInterpreter, encodeState, initialState, resumeState, type PaceState } from '../model/pace';
import { WorkflowEffects } from './effects';
import { SIGNALS, type JobWorkflowInput, type JobWorkflowResult } from './types';
import { View } from './view';

/**
 * A job: interprets the pace machine on durable activities and timers. It holds a cursor and what is in flight; the
 * items are the store's. Signals of a run that rolls over are answered before it does.
 */
export async function itemwiseJob(input: JobWorkflowInput): Promise<JobWorkflowResult> {
  const view = new View(input);
  const effects = new WorkflowEffects(input, (state) => view.update(state, effects.endState));
  const early: (() => void)[] = [];
  let pace: PaceInterpreter | undefined;
  // Handlers run in the root scope, which Temporal's own cancel cancels with all that is called in it: what they lead
  // to must not be.
  const whenReady = (act: (ready: PaceInterpreter) => void): void => {
    const shielded = (): void => void CancellationScope.nonCancellable(async () => act(pace!));
    if (pace) shielded();
    else early.push(shielded);
  };
  const cancel = (by: string | null): void => whenReady((ready) => requestCancel(ready, effects, by));
  setHandler(defineSignal(SIGNALS.cancel), () => cancel(null));
  setHandler(defineSignal(SIGNALS.pause), () => whenReady((ready) => ready.push({ type: 'pause' })));
  setHandler(defineSignal(SIGNALS.resume), () => whenReady((ready) => ready.push({ type: 'resume' })));
  // Temporal's own cancel takes the same path; the workflow itself is never cancelled, because it has items to settle.
  CancellationScope.current().cancelRequested.catch(() => cancel('temporal'));

  return CancellationScope.nonCancellable(async () => {
    const beginning = await begin(input, effects);
    pace = new PaceInterpreter(beginning.state, effects);
    pace.push({ type: 'start' });
    if (beginning.cancel) cancel(null);
    for (const act of early.splice(0)) act();
    await runUntilOver(input, pace);
    if (pace.failure) throw pace.failure.error;
    if (pace.state.closed) return { state: effects.endState! };
    return continueAsNew<typeof itemwiseJob>({ ...input, state: encodeState(pace.state) });
  });
}

/** A cancel that the API did not write a row for has it written first thing; from there on both are the same. */
function requestCancel(pace: PaceInterpreter, effects: WorkflowEffects, by: string | null): void {
  if (by !== null) effects.recordCancel(by);
  pace.push({ type: 'cancel' });
}

/** A first start begins at the first item, a rollover where it left off, a later generation where the store says. */
async function begin(
  input: JobWorkflowInput,
  effects: WorkflowEffects,
): Promise<{ state: PaceState; cancel: boolean }> {
  const { total, tuning, paused, job } = input;
  if (input.state) return { state: resumeState(input.state), cancel: false };
  if (job.generation === 1) return { state: initialState({ total, tuning, paused }), cancel: false };
  const from = await effects.begin();
  const { cursor, nextDue } = from;
  return { state: initialState({ total, tuning, cursor, nextDue, paused: from.paused }), cancel: from.cancel };
}

async function runUntilOver(input: JobWorkflowInput, pace: PaceInterpreter): Promise<void> {
  while (!pace.isOver) {
    await condition(() => pace.isOver || (wantsRollover(input) && !pace.state.rollover));
    if (!pace.isOver) pace.push({ type: 'rollover' });
  }
}

function wantsRollover(input: JobWorkflowInput): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || (input.rolloverEvents !== null && historyLength >= input.rolloverEvents);
}
