import type { ItemReport } from '../report';
import { itemWords } from './names';
import type { CrashPoint } from './points';
import type { Protection } from './records';

/**
 * A mistake of the payload:
 *
 *   made_twice       a call that the vendor had booked was made again: its `reconcile` did not find it
 *   key_unused       a call that may be sent twice gave the vendor no key, or two different ones, to tell that it is the same
 *   sent_outside     a request that changes something was made again: no verb of Context knows of it
 *   name_changed     a call had another name in the next attempt, so its result was not found
 *   name_used_twice  two calls of one attempt have the same name, without any crash
 *   args_changed     a call had other arguments in the next attempt
 *   unknown_charge   a call has neither `reconcile` nor `idempotent`, or nobody could tell: the item goes to a person
 *   booked_twice     the vendor's own account, `options.booked`, has it twice
 *   ends_otherwise   an item came to something else than without a crash
 *   never_run        an input did not fit, so that the item says nothing about the payload
 */
export type FindingKind =
  | 'made_twice'
  | 'key_unused'
  | 'sent_outside'
  | 'name_changed'
  | 'name_used_twice'
  | 'args_changed'
  | 'unknown_charge'
  | 'booked_twice'
  | 'ends_otherwise'
  | 'never_run';

/** One mistake, however many items and crash points show it. */
export interface Finding {
  readonly kind: FindingKind;
  /** The call, as `vendor/name`, `once/name` or `wait:name`; or the request, as `POST http://host/path`. */
  readonly call?: string;
  /** Ids of the items that show it. */
  readonly items: readonly string[];
  /** When the process died, the first time that it showed. */
  readonly at: string;
  /** How many crash points show it; 0 for what needs no crash. */
  readonly crashPoints: number;
  /** What is wrong and what to do, in a sentence or two. */
  readonly message: string;
}

/** A call or effect that was made a second time after the first was booked. */
export interface Repeat {
  readonly items: readonly string[];
  readonly call: string;
  /** When the process died. */
  readonly at: string;
  /** What was to keep that from costing twice: `idempotent` and `effect` are sent again by design, under the same key. */
  readonly protection: Protection;
}

/** What came of crashing a payload at every await. */
export interface CrashReport {
  /** Empty for a payload that may die anywhere. */
  readonly findings: readonly Finding[];
  readonly repeats: readonly Repeat[];
  /** What the items came to when nothing died. */
  readonly items: readonly ItemReport[];
  /** When the process died, one run each. */
  readonly crashPoints: readonly string[];
  /** Crash points that were left out because of `limit`. */
  readonly leftOut: number;
  /** Crash points that a second run did not come to: the payload does not do the same each time. */
  readonly notReached: readonly string[];
  /** All of it in words. */
  readonly text: string;
}

/** One thing found in one run. */
export interface Found {
  readonly kind: FindingKind;
  readonly call?: string | undefined;
  readonly ids: readonly string[];
  readonly message: string;
  /** What has the same is the same mistake; by default the call, or else the message. */
  readonly group?: string;
}

/** Puts together what is the same mistake. */
export class Findings {
  private readonly mistakes = new Map<
    string,
    { first: Found; at: CrashPoint; ids: Set<string>; points: Set<string> }
  >();

  add(found: Found, at: CrashPoint): void {
    const { kind, group, call, message, ids } = found;
    const name = JSON.stringify([kind, group ?? call ?? message]);
    const mistake = this.mistakes.get(name) ?? { first: found, at, ids: new Set(), points: new Set() };
    this.mistakes.set(name, mistake);
    for (const id of ids) mistake.ids.add(id);
    mistake.points.add(at.id);
  }

  all(): Finding[] {
    return [...this.mistakes.values()].map(({ first: { kind, call, ids, message }, at, ...seen }) => ({
      kind,
      ...(call !== undefined && { call }),
      items: [...seen.ids],
      at: at.words,
      crashPoints: at === NO_CRASH ? 0 : seen.points.size,
      message: `${subject(ids)}${message}${when(at)}`,
    }));
  }
}

/** Without a crash. */
export const NO_CRASH: CrashPoint = { id: 'none', words: 'never' };

function when(at: CrashPoint): string {
  return at === NO_CRASH ? '. This needs no crash.' : `. The process died ${at.words}.`;
}

function subject(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `${itemWords(ids)}: `;
}

/** `acme/quote (idempotent)`, each call once. */
function repeated(repeats: readonly Repeat[]): string {
  return [...new Set(repeats.map(({ call, protection }) => `${call} (${protection})`))].join(', ');
}

export function textOf(report: Omit<CrashReport, 'text'>, limit: number): string {
  const { findings, crashPoints, leftOut, notReached, repeats } = report;
  const tried = crashPoints.length;
  const lines = [
    `died at ${tried} crash point${tried === 1 ? '' : 's'}: ` +
      (findings.length === 0 ? 'nothing was found' : `${findings.length} found`),
    ...(leftOut > 0
      ? [
          `${leftOut} of ${tried + leftOut} crash points were left out: the limit is ${limit}. Raise it to try them all.`,
        ]
      : []),
    ...(notReached.length > 0
      ? [`${notReached.length} crash points were not come to again: the payload does not do the same each time`]
      : []),
    ...(repeats.length > 0 ? [`sent again after it had been booked: ${repeated(repeats)}`] : []),
    ...findings.map(({ kind, message }) => `- ${kind}: ${message}`),
  ];
  return lines.join('\n');
}
