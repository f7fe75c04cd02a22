import type { Fence, JournalWrite, Store, UnitFlush } from '../../store';
import type { Names } from './names';

/** A point beside a write to the store: `kind` is the same in every run, `words` are for people. */
interface Point {
  readonly kind: string;
  readonly words: string;
}
interface Points {
  readonly before?: Point;
  readonly after?: Point;
}

/** Where a process may die around a call of the store. Reads have no points: to die there changes nothing. */
export function pointsOf(method: keyof Store, args: readonly unknown[], names: Names): Points {
  if (method === 'journal') return ofJournal(args[0] as readonly JournalWrite[], names);
  if (method === 'settle') return ofFlushes(args[0] as readonly UnitFlush[], names);
  if (method !== 'openUnit') return {};
  const { seq } = args[0] as Fence;
  return { after: { kind: `unit ${seq}`, words: 'after a worker had taken the work, before anything of it started' } };
}

/**
 * Before an intent nothing has happened; once it is stored, the call is about to be sent, which is a point of its own.
 * So is the moment before a result is stored: when the vendor has answered.
 */
function ofJournal(writes: readonly JournalWrite[], names: Names): Points {
  const intents = writes.filter((write) => write.type === 'intent');
  const facts = writes.filter((write) => write.type !== 'intent' && write.type !== 'look');
  return {
    ...(intents.length > 0 && { before: point('intent', intents, names, 'before the intent of', 'was stored') }),
    ...(facts.length > 0 && {
      after: point('fact', facts, names, 'after the result of', 'was stored, before the payload had it'),
    }),
  };
}

function point(kind: string, writes: readonly JournalWrite[], names: Names, begin: string, end: string): Point {
  const calls = writes.map((write) => `${callWords(write.call)} of ${names.subject(write.subject)}`);
  const subjects = writes.map((write) => write.subject);
  return { kind: `${kind} ${subjects.join(' ')}`, words: `${begin} ${calls.join(' and ')} ${end}` };
}

/** A call as its author wrote it: the first start of a wait needs no number. */
export function callWords(call: string): string {
  return call.replace(/#1$/, '');
}

function ofFlushes(flushes: readonly UnitFlush[], names: Names): Points {
  const found = [
    ...part(flushes, 'outcome', 'the outcome of', names, (flush) => flush.settled.map((item) => item.index)),
    ...part(flushes, 'parking', 'what comes next for', names, (flush) => flush.parked.map((item) => item.index)),
    ...part(flushes, 'answer', 'the answer to', names, (flush) =>
      (flush.checked?.answered ?? []).map((item) => item.index),
    ),
  ];
  const said = flushes.some(({ usage, log }) => usage.length + log.length > 0);
  if (found.length === 0 && said) found.push({ kind: 'said', words: 'what was metered or logged' });
  if (found.length === 0) return {};
  const kind = found.map((one) => one.kind).join(' ');
  const words = found.map((one) => one.words).join(' and ');
  return {
    before: { kind, words: `before ${words} was stored` },
    after: { kind, words: `after ${words} was stored, before the worker knew it` },
  };
}

function part(
  flushes: readonly UnitFlush[],
  kind: string,
  words: string,
  names: Names,
  indexesOf: (flush: UnitFlush) => number[],
): Point[] {
  const indexes = flushes.flatMap(indexesOf);
  if (indexes.length === 0) return [];
  return [{ kind: `${kind} ${indexes.join(',')}`, words: `${words} ${names.indexes(indexes)}` }];
}
