import type { Connection } from '@temporalio/client';

/** The product's search attributes, by which runs are found in Temporal's UI, with their types. */
export const SEARCH_ATTRIBUTES = {
  ItemwiseState: 'Keyword',
  ItemwiseCapability: 'Keyword',
  ItemwiseTenant: 'Keyword',
} as const;

export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;

export type Registration = { ok: true } | { ok: false; reason: string };

export interface RegisterOptions {
  /** How long, in ms, all of it may take. */
  deadlineMs: number;
}

/** temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD */
const KEYWORD = 2;

/** grpc.status.ALREADY_EXISTS */
const ALREADY_EXISTS = 6;

/** Not more than a few listings a second, and hardly a wait once it shows. */
const POLL_MS = 100;

const NAMES = Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];

type Operator = Pick<Connection, 'operatorService' | 'withDeadline'>;

/**
 * Registers those of `SEARCH_ATTRIBUTES` that the namespace does not have, and waits until it shows them all.
 * Never throws: a server may refuse it or not support it (Temporal Cloud does not offer this service), and the product
 * works without; `reason` is for the person then.
 */
export async function registerSearchAttributes(
  connection: Operator,
  namespace: string,
  { deadlineMs }: RegisterOptions,
): Promise<Registration> {
  const deadline = Date.now() + deadlineMs;
  try {
    return await connection.withDeadline(deadline, async () => {
      let missing = await listMissing(connection, namespace);
      if (missing.length > 0) await add(connection, namespace, missing);
      while (missing.length > 0) {
        if (Date.now() >= deadline) return { ok: false, reason: `${missing.join(', ')} not shown in ${deadlineMs} ms` };
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        missing = await listMissing(connection, namespace);
      }
      return { ok: true };
    });
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** @throws Error when one of the names is taken by an attribute of another type. */
async function listMissing(connection: Operator, namespace: string): Promise<SearchAttributeName[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const typeOf = (name: string): number | undefined => customAttributes?.[name] ?? undefined;
  const other = NAMES.filter((name) => typeOf(name) !== undefined && typeOf(name) !== KEYWORD);
  if (other.length > 0) throw new Error(`${other.join(', ')} exists, but is no Keyword`);
  return NAMES.filter((name) => typeOf(name) === undefined);
}

async function add(connection: Operator, namespace: string, names: readonly SearchAttributeName[]): Promise<void> {
  const searchAttributes = Object.fromEntries(names.map((name) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another worker registered them in between.
    if ((error as { code?: unknown }).code !== ALREADY_EXISTS) throw error;
  }
}
