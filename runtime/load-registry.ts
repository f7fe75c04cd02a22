import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createJiti } from 'jiti';
import { createRegistry, isPayload, type Payload, type Registry } from '../contract';
import { registry as builtIn } from '../payloads/registry';

/** The payloads module named by the person cannot be used. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

/**
 * The payloads to serve: the built-in ones, or those of a module of the team's own, in TypeScript or JavaScript. It
 * exports an array of payloads as `default` or `payloads`, and may import `itemwise/contract` and `itemwise/testing`
 * wherever it lies.
 * @param path of the module; undefined for the built-in payloads.
 * @throws RegistryError that says what is wrong with the module.
 */
export async function loadRegistry(path: string | undefined): Promise<Registry> {
  if (path === undefined) return builtIn;
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new RegistryError(`there is no payloads module at ${path}`);
  const here = join(__dirname, '..');
  const jiti = createJiti(__filename, {
    alias: { 'itemwise/contract': join(here, 'contract'), 'itemwise/testing': join(here, 'testing') },
  });
  let loaded: Record<string, unknown>;
  try {
    loaded = await jiti.import(path);
  } catch (error) {
    throw new RegistryError(`cannot load the payloads module ${path}: ${String(error)}`, { cause: error });
  }
  const exported = payloadsOf(loaded);
  if (!exported) {
    throw new RegistryError(
      `the payloads module ${path} must export an array of what definePayload returned, as default or payloads`,
    );
  }
  return createRegistry(exported);
}

function payloadsOf(loaded: Record<string, unknown>): Payload[] | undefined {
  for (const candidate of [loaded['default'], loaded['payloads'], loaded]) {
    const list = Array.isArray(candidate) ? (candidate as unknown[]) : [candidate];
    if (list.length > 0 && list.every(isPayload)) return list;
  }
  return undefined;
}
