/**
 * `npm run bench [-- --n N --json]`: from the first byte of an upload to the last outcome, beside bare Temporal with
 * one activity an item on the same server in the same run. Absolute figures drift with the machine; the ratio is what
 * to compare.
 */
import { parseArgs } from 'node:util';
import { ensureTemporal } from '../temporal-dev';
import { Bare } from './bare';
import { Product } from './product';

const SIZES = [1, 1_000, 100_000, 300_000];
const BARE = { items: 5_000, window: 100 };
/** One-item runs for the latency figures. */
const LATENCY_RUNS = 40;

interface Row {
  n: number;
  itemsPerSecond: number;
  bareItemsPerSecond: number;
  ratio: number;
  rssApiMb: number;
  rssWorkerMb: number;
  uploadSeconds: number;
  seconds: number;
  p50Ms?: number;
  p95Ms?: number;
  bareP50Ms?: number;
  bareP95Ms?: number;
}

function quantile(sorted: readonly number[], q: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!);
}

async function times(work: () => Promise<number>): Promise<number[]> {
  for (let i = 0; i < 5; i++) await work();
  const all: number[] = [];
  for (let i = 0; i < LATENCY_RUNS; i++) all.push(await work());
  return all.sort((a, b) => a - b);
}

async function measure(n: number, product: Product, bare: Bare, bareItemsPerSecond: number): Promise<Row> {
  const { uploadMs, totalMs } = await product.run(n);
  const itemsPerSecond = Math.round((n / totalMs) * 1_000);
  const row: Row = {
    n,
    itemsPerSecond,
    bareItemsPerSecond,
    ratio: Math.round((itemsPerSecond / bareItemsPerSecond) * 10) / 10,
    rssApiMb: product.api.peakRssMb(),
    rssWorkerMb: product.worker.peakRssMb(),
    uploadSeconds: Math.round(uploadMs) / 1_000,
    seconds: Math.round(totalMs) / 1_000,
  };
  if (n > 1) return row;
  const ours = await times(async () => (await product.run(1)).totalMs);
  const theirs = await times(() => bare.run(1, 1));
  return {
    ...row,
    p50Ms: quantile(ours, 0.5),
    p95Ms: quantile(ours, 0.95),
    bareP50Ms: quantile(theirs, 0.5),
    bareP95Ms: quantile(theirs, 0.95),
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { n: { type: 'string' }, json: { type: 'boolean', default: false } } });
  const sizes = values.n === undefined ? SIZES : values.n.split(',').map(Number);
  if (sizes.some((n) => !Number.isInteger(n) || n < 1 || n > 300_000))
    throw new Error('--n is a whole number from 1 to 300000');
  const note = (line: string): void => void process.stderr.write(`${line}\n`);
  const temporal = await ensureTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' }, onProgress: note });
  const bare = await Bare.open(temporal.address);
  try {
    note(`bare Temporal: ${BARE.items} items, one activity each, ${BARE.window} at once`);
    await bare.run(500, BARE.window);
    const bareItemsPerSecond = Math.round((BARE.items / (await bare.run(BARE.items, BARE.window))) * 1_000);
    for (const n of sizes) {
      // A product of its own for each size: the peak of memory is that of the size.
      const product = await Product.open(temporal.address);
      try {
        const row = await measure(n, product, bare, bareItemsPerSecond);
        if (values.json) process.stdout.write(`${JSON.stringify(row)}\n`);
        else console.table([row]);
      } finally {
        await product.close();
      }
    }
  } finally {
    await bare.close();
    await temporal.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
