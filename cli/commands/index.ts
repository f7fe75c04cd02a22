/** Every command, a file each. */
export { defineApi } from './api';
export { defineDelete } from './delete';
export { defineDev } from './dev';
export { defineJobs } from './jobs';
export { defineLog } from './log';
export { defineResults } from './results';
export { defineRun } from './run';
export { defineShow } from './show';
export { defineSteering } from './steer';
export { defineSubmit } from './submit';
export { defineWatch } from './watch';
export { defineWatched } from './watched';
export { defineWorker } from './worker';
