import { decode } from '../index-set';
import type { Found, UnitEnd } from './events';

/** Sets of other lanes than `run` as they travel; absent where they are empty, and always from the first release. */
export interface EncodedElsewhere {
  readonly check?: string | undefined;
  readonly quarantine?: string | undefined;
}

/** A unit's end as it travels. */
export type EncodedEnd = EncodedElsewhere & Omit<UnitEnd, 'handedBack' | 'elsewhere'> & { readonly handedBack: string };

export function toFound(run: string, { check = '', quarantine = '' }: EncodedElsewhere): Found {
  return { run: decode(run), check: decode(check), quarantine: decode(quarantine) };
}

export function toEnd({ handedBack, check, quarantine, ...end }: EncodedEnd): UnitEnd {
  const { run, ...elsewhere } = toFound(handedBack, { check, quarantine });
  return { ...end, handedBack: run, ...((check ?? quarantine) !== undefined && { elsewhere }) };
}
