/**
 * The pace machine.
 *
 *   state.ts   what a job's workflow knows, and its encoding
 *   events.ts  what can happen, what is to be done
 *   step.ts    (state, event) -> (state, commands)
 *   interpreter.ts  feeds events in and has commands carried out, over whatever effects it is given
 */
export { canRollOver, step, CLAIM_LIMIT, STUCK_ROUNDS, type Step } from './step';
export {
  decodeState,
  encodeState,
  initialState,
  resumeState,
  type Beginning,
  type EncodedState,
  type InFlight,
  type PaceState,
} from './state';
export type { PaceCommand, PaceEvent, UnitEnd } from './events';
export { PaceInterpreter, type PaceEffects } from './interpreter';
