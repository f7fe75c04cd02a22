import { createHash } from 'node:crypto';

/** Whose call it is: an item, or a batch by its members. */
export function itemSubject(itemId: string): string {
  return `i:${itemId}`;
}

/** A batch is its members: formed again of the same items, it is the same. */
export function batchSubject(itemIds: readonly string[]): string {
  return `b:${sha256(JSON.stringify(itemIds))}`;
}

/**
 * The idempotency key of a call: the same on every try, delivery, replay and retry job, another one in every other
 * store, lineage of jobs, item and call.
 */
export function callKey(of: { storeId: string; rootNo: number; subject: string; call: string }): string {
  return sha256(JSON.stringify([of.storeId, of.rootNo, of.subject, of.call]));
}

/** The same for the same JSON, whatever the order of its keys; null without arguments. */
export function argsHash(args: unknown): string | null {
  return args === undefined ? null : sha256(JSON.stringify(sorted(args)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, inner]) => [key, sorted(inner)]);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
