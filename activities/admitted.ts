import type { Payload } from '../contract';
import { encode, isEmpty, type IndexSet } from '../model/index-set';
import type { JobRecord } from '../store';
import type { JournalWriter } from './calls/journal-writer';
import type { CancelWatch } from './cancel-watch';
import type { ActivityDeps, Log } from './deps';
import type { Settler } from './settler';
import type { EncodedElsewhere } from '../model/pace';
import type { UnitResult } from './types';
import type { UnitBuffer } from './unit-buffer';
import type { Busy } from './unit-run';

/** What the units of one worker share. */
export interface UnitShared {
  readonly settler: Settler;
  readonly journal: JournalWriter;
  readonly cancelWatch: Pick<CancelWatch, 'watch' | 'look'>;
  readonly busy: Busy;
}

/** One delivery of a unit, admitted by the store. */
export interface Admitted {
  readonly deps: ActivityDeps;
  readonly shared: UnitShared;
  readonly job: JobRecord;
  readonly payload: Payload;
  readonly set: IndexSet;
  readonly slots: number;
  readonly buffer: UnitBuffer;
  readonly log: Log;
}

/** What became of a unit's items, beside what is in its buffer. */
export type Came = Omit<UnitResult, 'wallMs'>;

export function elsewhere(sets: { check?: IndexSet; quarantine?: IndexSet }): EncodedElsewhere {
  const { check = [], quarantine = [] } = sets;
  return {
    ...(!isEmpty(check) && { check: encode(check) }),
    ...(!isEmpty(quarantine) && { quarantine: encode(quarantine) }),
  };
}
