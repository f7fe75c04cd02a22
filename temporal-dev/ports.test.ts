import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { HOST, pickPort } from './ports';

describe('pickPort', () => {
  test('the preferred port while it is free, another when it is taken', async () => {
    const server = createServer().listen(0, HOST);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const other = await pickPort(port);
    expect(other).not.toBe(port);
    expect(other).toBeGreaterThan(0);
    server.close();
    await once(server, 'close');
    expect(await pickPort(port)).toBe(port);
  });

  test('never one that is meant for something else', async () => {
    const port = await pickPort(0);
    expect(port).toBeGreaterThan(0);
    expect(await pickPort(port, [port])).not.toBe(port);
  });
});
