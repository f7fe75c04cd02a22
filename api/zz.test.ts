import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createRig } from '../test/support/rig';
import { scripted } from '../test/support/payloads';

test('early answer', async () => {
  const rig = await createRig({ queue: 'in-process', payloads: [scripted().payload] });
  const u = new URL(rig.url);
  console.log((await promisify(execFile)('python3', ['/tmp/htx/py.py', u.hostname, u.port])).stdout);
  await rig.stop();
}, 60000);
