import { isDeepStrictEqual } from 'node:util';
import type { ItemReport } from '../report';
import { sendingsOf, type Attempt, type Protection, type Records, type Sending } from './records';
import type { Found, Repeat } from './report';

/** One run of all the items. */
export interface RunOutcome {
  readonly records: Records;
  readonly reports: readonly ItemReport[];
  /** The vendor's own account of the run. */
  readonly booked: readonly string[];
}

/** What is wrong with a payload before anything has died. */
export function findWithoutCrash({ reports }: RunOutcome): Found[] {
  return reports.flatMap(({ id, error, attempts, state }): Found[] => {
    if (error?.code === 'call_misused') return [{ kind: 'name_used_twice', ids: [id], message: error.message }];
    if (state !== 'failed' || attempts > 0) return [];
    const message = `it was never run, so it says nothing about the payload: ${error?.message ?? state}`;
    return [{ kind: 'never_run', ids: [id], message }];
  });
}

/** What a run with a crash shows, held against the one without. */
export function findAfterCrash(
  usual: RunOutcome,
  crashed: RunOutcome,
): { found: Found[]; repeats: Omit<Repeat, 'at'>[] } {
  const subjects = crashed.records.bySubject();
  const repeats = subjects.flatMap(repeatsOf);
  return {
    repeats: repeats.map(({ items, call, protection }) => ({ items, call, protection })),
    found: [
      ...repeats.flatMap(badRepeat),
      ...subjects.flatMap(renamed),
      ...subjects.flatMap((attempts) => sentOutside(attempts, usual.records)),
      ...endings(usual.reports, crashed),
      ...bookedTwice(usual.booked, crashed.booked),
    ],
  };
}

interface SentAgain extends Omit<Repeat, 'at'> {
  readonly sendings: readonly Sending[];
}

/** The calls of an item or batch by their names, as any of its attempts asked for them. */
function callsOf(attempts: readonly Attempt[]): Map<string, Protection> {
  return new Map(
    attempts.flatMap(({ asked }) => [...asked.values()].map((one) => [one.call, one.protection] as const)),
  );
}

const ofLife = (attempts: readonly Attempt[], life: Attempt['life']): Attempt[] =>
  attempts.filter((attempt) => attempt.life === life);

/** Calls that the vendor had answered before the process died, and that were sent again by the next. */
function repeatsOf(attempts: readonly Attempt[]): SentAgain[] {
  return [...callsOf(attempts)].flatMap(([call, protection]) => {
    const first = sendingsOf(ofLife(attempts, 'first'), call).filter(({ end }) => end === 'answered');
    const second = sendingsOf(ofLife(attempts, 'second'), call);
    if (first.length === 0 || second.length === 0) return [];
    return [{ items: attempts[0]!.ids, call, protection, sendings: [...first, ...second] }];
  });
}

function badRepeat({ items: ids, call, protection, sendings }: SentAgain): Found[] {
  if (protection === 'reconcile' || protection === 'none') {
    const message =
      `${call} was made twice, though the vendor had booked it the first time: its reconcile did not find it. ` +
      'Look it up by the key that both were sent with, and answer `absent` only when the vendor says so';
    return [{ kind: 'made_twice', call, ids, message }];
  }
  const keys = new Set(sendings.flatMap(({ keysSent }) => [...keysSent]));
  const hidden = sendings.some(({ writes, keyRead }) => writes && !keyRead);
  if (keys.size < 2 && !hidden) return [];
  const why = keys.size > 1 ? 'had another Idempotency-Key each time' : 'never looked at its key';
  const message =
    `${call} was sent twice and ${why}, so that the vendor cannot tell that it is the same. ` +
    'Hand the vendor the key that the call is given, or give a call of ctx.vendor a `reconcile`';
  return [{ kind: 'key_unused', call, ids, message }];
}

/** A call that was paid for and that the next attempt did not ask for; it asked for another one. */
function renamed(attempts: readonly Attempt[]): Found[] {
  const first = ofLife(attempts, 'first');
  return first.flatMap((attempt) => {
    const next = ofLife(attempts, 'second').filter(({ handler }) => handler === attempt.handler);
    if (next.length === 0) return [];
    const askedNext = callsOf(next);
    const newName = [...askedNext.keys()].find((call) => !first.some(({ asked }) => asked.has(call)));
    if (newName === undefined) return [];
    const lost = [...attempt.asked.values()].filter(
      ({ call, sendings }) =>
        !call.startsWith('wait:') && !askedNext.has(call) && sendings.some(({ end }) => end === 'answered'),
    );
    return lost.map(({ call }): Found => {
      const message =
        `${call} was booked, and the next attempt asked for ${newName} instead, so that its result was not found. ` +
        'The name of a call is the same on every attempt: nothing of the time, of chance or of a count of attempts is in it';
      return { kind: 'name_changed', call, ids: attempt.ids, message, group: attempt.handler };
    });
  });
}

/** Requests that nothing protects, made more often than without a crash. */
function sentOutside(attempts: readonly Attempt[], usual: Records): Found[] {
  const ids = attempts[0]!.ids;
  const count = (of: readonly Attempt[], request: string): number =>
    of.flatMap(({ loose }) => loose).filter((one) => one === request).length;
  const before = usual.attempts.filter((attempt) => isDeepStrictEqual(attempt.ids, ids));
  const again = [...new Set(ofLife(attempts, 'second').flatMap(({ loose }) => loose))].filter(
    (request) => count(ofLife(attempts, 'first'), request) > 0 && count(attempts, request) > count(before, request),
  );
  return again.map((call): Found => {
    const message =
      `${call} was made ${count(attempts, call)} times instead of ${count(before, call)}: it is sent outside of ` +
      'ctx.vendor(name).call and ctx.once, so it is sent again whenever the item runs again. Make it a call of ctx.vendor';
    return { kind: 'sent_outside', call, ids, message };
  });
}

/** Items that came to something else than they do without a crash. Results may differ: a vendor numbers what it does. */
function endings(usual: readonly ItemReport[], { reports, records }: RunOutcome): Found[] {
  return reports.flatMap((report, at): Found[] => {
    const before = usual[at]!;
    const ids = [report.id];
    if (isDeepStrictEqual(essence(before), essence(report))) return [];
    if (report.reason === 'unknown_charge') {
      const call = openCall(report);
      return [{ kind: 'unknown_charge', call, ids, message: unknownCharge(before, call, records, report.id) }];
    }
    const changed = `it ended as ${ending(report)} instead of ${ending(before)}`;
    if (report.error?.code === 'call_misused')
      return [{ kind: 'args_changed', ids, message: `${changed}: ${report.error.message}` }];
    const why = report.error ? `: ${report.error.message}` : '';
    return [{ kind: 'ends_otherwise', ids, message: `${changed}${why}` }];
  });
}

function essence({ state, reason, error, usage }: ItemReport): object {
  return { state, reason, code: error?.code, usage: usage.map(({ name, key }) => `${name} ${key}`).sort() };
}

function ending({ state, reason, error, usage }: ItemReport): string {
  const why = reason ?? error?.code;
  const used =
    usage.length === 0 ? '' : `, with the usage ${usage.map(({ name, key }) => `${name}/${key}`).join(', ')}`;
  return `${state}${why === undefined ? '' : ` (${why})`}${used}`;
}

/** The call that nobody knows the end of stands in the item's draft, as a person would read it. */
function openCall({ draft }: ItemReport): string | undefined {
  const [open] = (draft as { calls?: { call: string }[] } | undefined)?.calls ?? [];
  return open?.call.replace(/#1$/, '');
}

function unknownCharge(before: ItemReport, call: string | undefined, records: Records, id: string): string {
  const ofItem = callsOf(records.attempts.filter(({ ids }) => ids.includes(id)));
  const lookedUp = call !== undefined && ofItem.get(call) === 'reconcile';
  const remedy = lookedUp
    ? 'its reconcile could not tell what came of it. Have it look the call up by its key'
    : 'it has neither `reconcile` nor `idempotent`, so that nobody can tell whether it was charged. Give it one of them';
  return `it ended as needs_review (unknown_charge) instead of ${ending(before)}, because of the call ${call ?? '(not known)'}: ${remedy}`;
}

function bookedTwice(usual: readonly string[], booked: readonly string[]): Found[] {
  const counts = new Map<string, number>();
  for (const entry of booked) counts.set(entry, (counts.get(entry) ?? 0) + 1);
  const twice = [...counts].filter(([entry, n]) => n > Math.max(1, usual.filter((one) => one === entry).length));
  if (twice.length === 0 && booked.length <= usual.length) return [];
  const which = twice.length > 0 ? `has ${twice.map(([entry, n]) => `${entry} ${n} times`).join(', ')}` : 'has more';
  const message = `the vendor's own account ${which}: ${booked.length} entries instead of ${usual.length}`;
  return [{ kind: 'booked_twice', call: '(booked)', ids: [], message }];
}
