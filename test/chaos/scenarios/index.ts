import type { Scenario } from '../chaos';
import { clockOff } from './clock-off';
import { killApi } from './kill-api';
import { killFinalize } from './kill-finalize';
import { killEvery15s, killEvery3s, killOnce } from './kill-worker';
import { manyItems } from './many-items';
import { stopWorker } from './stop-worker';
import { diskFull, sqliteLocked, sqliteReadOnly } from './store-away';
import { temporalDown, temporalLost } from './temporal-away';
import { vendorDrops } from './vendor-drops';

/** All of them, in the order in which the long version plays them. */
export const SCENARIOS: readonly Scenario[] = [
  killOnce,
  killEvery15s,
  killEvery3s,
  killApi,
  killFinalize,
  stopWorker,
  temporalDown,
  temporalLost,
  sqliteLocked,
  sqliteReadOnly,
  diskFull,
  vendorDrops,
  clockOff,
  manyItems,
];
