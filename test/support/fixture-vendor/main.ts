/**
 * The fixture vendor as a process, to try feed.submit by hand: `npx jiti test/support/fixture-vendor/main.ts`. Prints its
 * address; Ctrl-C ends it and prints its ledger.
 */
import { FixtureVendor } from './vendor';

async function main(): Promise<void> {
  const vendor = await new FixtureVendor().start();
  process.stdout.write(`${JSON.stringify({ vendor: vendor.url })}\n`);
  process.once('SIGINT', () => {
    process.stdout.write(`${JSON.stringify(vendor.ledger, null, 2)}\n`);
    void vendor.stop();
  });
}

void main();
