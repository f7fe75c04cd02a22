/** What `bench/waits.ts` runs on Temporal; loaded by the worker as a team's own module would be. */
import { slowVendor } from '../test/support/slow-vendor';

const { ITEMWISE_BENCH_CHECKS: checks = '120', ITEMWISE_BENCH_EVERY: every = '1000' } = process.env;

export default [slowVendor({ answersAfter: Number(checks), every: Number(every) }).payload];
