import { setCurrentDetails, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { size } from '../model/index-set';
import type { PaceState } from '../model/pace';
import type { JobState } from '../model/states';
import type { JobWorkflowInput } from './types';

const STATE = defineSearchAttributeKey('ItemwiseState', SearchAttributeType.KEYWORD);

/** Keeps what the Temporal UI shows of a job up to date: a search attribute, a memo, a few lines of text. */
export class View {
  private shown: JobState | undefined;

  private paused: boolean;

  constructor(private readonly input: JobWorkflowInput) {
    this.shown = input.state ? 'running' : undefined;
    this.paused = input.state?.paused ?? input.paused;
  }

  update(state: PaceState, endState: JobState | undefined): void {
    const jobState = endState ?? stateOf(state);
    if (jobState !== this.shown) {
      this.shown = jobState;
      if (this.input.searchAttributes) upsertSearchAttributes([{ key: STATE, value: jobState }]);
    }
    // What the sweep holds against the job's row: a pause or resume that was lost on its way is told again.
    if (state.paused !== this.paused) {
      this.paused = state.paused;
      upsertMemo({ paused: state.paused });
    }
    setCurrentDetails(describe(this.input, state, jobState));
  }
}

function stateOf(state: PaceState): JobState {
  if (state.cancel !== 'none') return 'cancelling';
  return state.paused ? 'paused' : 'running';
}

function describe(input: JobWorkflowInput, state: PaceState, jobState: JobState): string {
  const units = Object.values(state.inFlight);
  const inUnits = units.reduce((sum, unit) => sum + size(unit.set), 0);
  const lines = [
    `**${input.capability}** over ${input.total} items: **${jobState}**`,
    `sent up to item ${state.cursor} of ${input.total}; ${units.length} units with ${inUnits} items in flight`,
    ...(size(state.ready) > 0 ? [`${size(state.ready)} items to be sent again`] : []),
    ...(state.nextDue !== null ? ['some items are parked for later'] : []),
    ...(input.job.generation > 1 ? [`generation ${input.job.generation}: started again from the store`] : []),
  ];
  return lines.join('\n\n');
}
