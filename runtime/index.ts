/** What the processes of the product share when they are put together: settings, store, payloads, log. */
export { loadRegistry } from './load-registry';
export { createLogger, type Logger } from './logger';
export { readPayloadConfigs, variableOf } from './payload-config';
export { openRuntime, openTemporalQueue, type Runtime } from './runtime';
