import { Client, Connection } from '@temporalio/client';

/** Speaks to the dev server of the tests as a person with Temporal's own tools would. */
export async function withTemporal<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
