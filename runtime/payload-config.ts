import type { Payload, Registry } from '../contract';
import { z } from 'zod';
import { ConfigError } from '../config';

/** `baseUrl` of `page.fetch` is read from `PAGE_FETCH_BASE_URL`. */
export function variableOf(payload: Payload, key: string): string {
  const name = payload.name.replaceAll('.', '_').toUpperCase();
  return `${name}_${key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()}`;
}

/**
 * Reads the settings of every payload from the environment, once, at boot. They are never stored.
 * @throws ConfigError with every mistake of every payload; values are not shown, since they may be secrets.
 */
export function readPayloadConfigs(registry: Registry, env: NodeJS.ProcessEnv): (payload: Payload) => unknown {
  const configs = new Map<Payload, unknown>();
  const mistakes: string[] = [];
  for (const payload of registry.list()) {
    const keys = payload.config instanceof z.ZodObject ? Object.keys(payload.config.shape) : [];
    const given = keys.flatMap((key) => {
      const value = env[variableOf(payload, key)];
      return value === undefined ? [] : [[key, value]];
    });
    const parsed = payload.config.safeParse(Object.fromEntries(given));
    if (parsed.success) configs.set(payload, parsed.data);
    else {
      for (const issue of parsed.error.issues) {
        mistakes.push(
          `${variableOf(payload, String(issue.path[0] ?? ''))} (for ${payload.capability}): ${issue.message}`,
        );
      }
    }
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return (payload) => configs.get(payload);
}
