/** Every command, a file each. */
export { defineApi } from './api';
export { defineDeadLetters } from './dead-letters';
export { defineDelete } from './delete';
export { defineDev } from './dev';
export { defineJobs } from './jobs';
export { defineLog } from './log';
export { defineResults } from './results';
export { defineRetry } from './retry';
export { defineRun } from './run';
export { defineShow } from './show';
export { defineSteering } from './steer';
export { defineSubmit } from './submit';
export { defineWatch } from './watch';
export { defineWatched } from './watched';
export { defineWhy } from './why';
export { defineWorker } from './worker';
