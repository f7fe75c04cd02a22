import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobJson } from '../../api';
import { seededRandom } from '../../testing/seeded-random';
import { FixtureVendor, type VendorOptions } from '../support/fixture-vendor/vendor';
import { Service } from '../support/service';

const SUPPORT = join(__dirname, '..', 'support');

/** What can be loaded before a process of the product; each says in its file what it does. */
export type Preload = 'die-at' | 'shift-clock' | 'store-mood';

/** How often a condition is looked at, ms. */
const LOOK_MS = 50;

/** Lines of the processes that are shown with a failure. */
const SAID_LINES = 15;

/** What a scenario did, for its line in the scorecard; the account of its jobs is taken by `account`. */
export interface Facts {
  /** Faults done. */
  readonly faults: number;
  /** The jobs that it ran, whose every item is looked at afterwards. */
  readonly jobs: readonly string[];
  /** Figures that belong to this scenario alone. */
  readonly note?: string;
}

export interface Scenario {
  readonly name: string;
  /** What is done to the service, in a line. */
  readonly about: string;
  run(chaos: Chaos): Promise<Facts>;
}

export interface ChaosOptions {
  readonly seed: number;
  /** At full length, rather than as short as it means anything. */
  readonly long: boolean;
  /** Of the Temporal server for scenarios that do nothing to it. */
  readonly temporalAddress: string;
}

export interface OpenOptions {
  readonly env?: Record<string, string>;
  readonly vendor?: VendorOptions;
  /** Of a server of the scenario's own. */
  readonly temporalAddress?: string;
  /** Modules of `preload/` that are loaded before each process of the product. */
  readonly preload?: readonly Preload[];
  /** Folder of the database; default that of the service. */
  readonly dataDir?: string;
  /** Default: started. */
  readonly api?: boolean;
}

/** What a scenario works with: a service of real processes, a vendor with a ledger, and luck from a seed. */
export class Chaos {
  readonly long: boolean;
  readonly random: () => number;
  service!: Service;
  vendor!: FixtureVendor;
  /** Folder of the database. */
  dataDir!: string;
  private orders = 0;
  private readonly closers: (() => unknown)[] = [];

  constructor(private readonly options: ChaosOptions) {
    this.long = options.long;
    this.random = seededRandom(options.seed);
  }

  /** The short or the long value. */
  sized<T>(short: T, long: T): T {
    return this.long ? long : short;
  }

  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  /** Starts vendor and API on a store of their own; workers are for the scenario to start. */
  async open({
    env = {},
    vendor = {},
    preload = [],
    temporalAddress,
    dataDir,
    api = true,
  }: OpenOptions = {}): Promise<void> {
    this.vendor = await new FixtureVendor(vendor).start();
    this.closers.push(() => this.vendor.stop());
    this.service = new Service({
      TEMPORAL_ADDRESS: temporalAddress ?? this.options.temporalAddress,
      ITEMWISE_PAYLOADS: join(SUPPORT, 'order-payloads.ts'),
      TEST_ORDER_BASE_URL: this.vendor.url,
      ...(!this.long && { ITEMWISE_HEARTBEAT_TIMEOUT: '2s' }),
      ...(dataDir !== undefined && { ITEMWISE_DATA: dataDir }),
      ...nodeOptions(preload),
      ...env,
    });
    this.dataDir = dataDir ?? this.service.folder;
    this.closers.push(() => this.service.stop());
    if (api) await this.service.startApi();
  }

  /** Inputs of `test.order`, each an order of its own, of random length within the bounds, ms. */
  orderInputs(count: number, [low, high]: readonly [number, number], more: object = {}): object[] {
    return Array.from({ length: count }, () => ({ order: `o${this.orders++}`, ms: this.between(low, high), ...more }));
  }

  /** Few at once in the short version, since suspects run one by one after a crash. */
  async submitOrders(count: number, length: readonly [number, number], more: object = {}): Promise<string> {
    const options = { concurrency: this.sized(10, 50) };
    return (await this.service.submit('test.order', this.orderInputs(count, length, more), options)).id;
  }

  /** Waits for a fault to have lasted: the only kind of wait here that is for time alone. */
  async last(ms: number): Promise<void> {
    await sleep(ms);
  }

  /** Waits until something holds. */
  async until(what: string, holds: () => unknown, patienceMs = 60_000): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while (!(await holds())) {
      assert(Date.now() < deadline, `waited ${patienceMs} ms in vain: ${what}`);
      await sleep(LOOK_MS);
    }
  }

  /** Called when the scenario is over; the last that was asked for first. */
  atEnd(close: () => unknown): void {
    this.closers.push(close);
  }

  /** The last that the processes have said on stderr, for whoever reads of a failure. */
  said(): string {
    const file = this.service && join(this.service.folder, 'stderr.log');
    const lines = file && existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-SAID_LINES) : [];
    return lines.length > 0 ? `\nThe processes said at last:\n  ${lines.join('\n  ')}` : '';
  }

  /** Ends all that the scenario has opened, the last first. */
  async close(): Promise<void> {
    for (const close of this.closers.splice(0).reverse()) await close();
  }
}

/** The environment with which Node loads modules of `preload/` first. */
export function nodeOptions(preload: readonly Preload[]): Record<string, string> {
  const files = preload.map((name) => `--require ${JSON.stringify(join(__dirname, 'preload', `${name}.js`))}`);
  return files.length > 0 ? { NODE_OPTIONS: files.join(' ') } : {};
}

/** Counts by outcome, added up: the items of a job that have ended. */
export function endedOf(job: JobJson): number {
  const { succeeded, failed, needs_review: review, skipped } = job.counts;
  return succeeded + failed + review + skipped;
}
