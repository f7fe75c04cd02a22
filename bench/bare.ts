import { Client, Connection } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { start, type Measured } from './processes';

const JITI = join(dirname(require.resolve('jiti/package.json')), 'lib', 'jiti-cli.mjs');

/** Temporal without the product: one activity an item. */
export class Bare {
  private constructor(
    private readonly client: Client,
    private readonly connection: Connection,
    private readonly worker: Measured,
  ) {}

  static async open(address: string): Promise<Bare> {
    const worker = await start([JITI, join(__dirname, 'bare-worker.ts'), address]);
    const connection = await Connection.connect({ address });
    return new Bare(new Client({ connection }), connection, worker);
  }

  async close(): Promise<void> {
    await this.connection.close();
    await this.worker.stop();
  }

  /** Time of one workflow over `items` activities, ms. */
  async run(items: number, window: number): Promise<number> {
    const startedAt = performance.now();
    const args: [number, number] = [items, window];
    await this.client.workflow.execute('bare', { taskQueue: 'bare', workflowId: `bare-${randomUUID()}`, args });
    return performance.now() - startedAt;
  }
}
