/**
 * The one rule for text that a database cannot hold (U+0000 in PostgreSQL, lone surrogates in UTF-8):
 *
 * - Bodies (inputs, params, results, drafts, errors) are kept as JSON text. JSON writes both as `\u` escapes, so they
 *   come back exactly as they were given.
 * - Names (item ids, labels, tenants) are compared and indexed as they are, so one that holds such a character is
 *   refused at the door (`isStorableName`).
 * - Lines for people (log messages) get U+FFFD in their place (`printable`).
 */

/** U+0000 (`\0`), or a surrogate without its other half. */
const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
const UNSTORABLE_ALL = new RegExp(UNSTORABLE.source, 'g');

export function isStorableName(text: string): boolean {
  return !UNSTORABLE.test(text);
}

export function printable(text: string): string {
  return text.replace(UNSTORABLE_ALL, '\uFFFD');
}
