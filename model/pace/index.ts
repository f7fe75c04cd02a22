/**
 * The pace machine.
 *
 *   state.ts   what a job's workflow knows, and its encoding
 *   events.ts  what can happen, what is to be done
 *   step.ts    (state, event) -> (state, commands)
 *   at-hand.ts  what may be sent, and what more of it is asked of the store
 *   sending.ts  what is sent next, in which lane
 *   answers.ts  what comes back from outside, decoded
 *   interpreter.ts  feeds events in and has commands carried out, over whatever effects it is given
 */
export { canRollOver, step, STUCK_ROUNDS, type Step } from './step';
export { CLAIM_LIMIT, CLAIM_PIECES } from './at-hand';
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
export { toEnd, toFound, type EncodedElsewhere, type EncodedEnd } from './answers';
export type { Found, Lane, PaceCommand, PaceEvent, UnitEnd } from './events';
export { PaceInterpreter, type PaceEffects } from './interpreter';
