/** A plain Temporal worker, as a process of its own: the denominator of the bench. */
import { NativeConnection, Worker } from '@temporalio/worker';

async function main(): Promise<void> {
  const connection = await NativeConnection.connect({ address: process.argv[2]! });
  const worker = await Worker.create({
    connection,
    taskQueue: 'bare',
    workflowsPath: require.resolve('./bare-workflow'),
    activities: { echo: async () => true },
    maxConcurrentActivityTaskExecutions: 100,
  });
  process.stdout.write('working\n');
  await worker.run();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
