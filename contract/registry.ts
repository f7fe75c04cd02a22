import type { Payload } from './payload';

/** The capabilities that a process knows: all that the runner sees of the payloads. */
export interface Registry {
  /** The payload of `name@version`, or of the newest version for a bare `name`; undefined when there is none. */
  get(capability: string): Payload | undefined;
  /** Every payload, by name and version. */
  list(): readonly Payload[];
}

/**
 * Builds a registry.
 * @throws TypeError when two payloads share a name and version.
 */
export function createRegistry(payloads: readonly Payload[]): Registry {
  const byCapability = new Map<string, Payload>();
  const newest = new Map<string, Payload>();
  for (const payload of payloads) {
    if (byCapability.has(payload.capability)) throw new TypeError(`two payloads are named ${payload.capability}`);
    byCapability.set(payload.capability, payload);
    const known = newest.get(payload.name);
    if (!known || known.version < payload.version) newest.set(payload.name, payload);
  }
  const sorted = [...payloads].sort((a, b) => (a.name === b.name ? a.version - b.version : a.name < b.name ? -1 : 1));
  return {
    get: (capability) => byCapability.get(capability) ?? newest.get(capability),
    list: () => sorted,
  };
}
