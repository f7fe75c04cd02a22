import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { registry } from '../../payloads/registry';
import { createRig, type Rig } from '../support/rig';

jest.setTimeout(60_000);

interface Car {
  readonly Name: string;
}
const cars = JSON.parse(
  readFileSync(join(__dirname, '..', '..', 'node_modules', 'vega-datasets', 'data', 'cars.json'), 'utf8'),
) as Car[];

describe.each(['activity', 'in-process'] as const)('406 real records, over HTTP, on the %s queue', (queue) => {
  let rig: Rig;
  afterEach(() => rig.stop());

  it('end as 404 succeeded and 2 to be reviewed', async () => {
    rig = await createRig({ queue, payloads: registry.list() });
    const items = cars.map((input, index) => ({ id: String(index + 1), input }));
    const { id } = await rig.submit('vehicle.normalize', items, { labels: { source: 'cars.json' } });
    const job = await rig.ended(id);
    expect(job).toMatchObject({
      state: 'succeeded',
      capability: 'vehicle.normalize@1',
      counts: { succeeded: 404, needs_review: 2, failed: 0 },
      labels: { source: 'cars.json' },
    });
    const outcomes = await rig.items(id);
    const named = (name: string) => outcomes[cars.findIndex((car) => car.Name === name)]!;
    expect(named('maxda rx3')).toMatchObject({ state: 'succeeded', result: { make: 'Mazda' } });
    expect(named('hi 1200d')).toMatchObject({ state: 'needs_review' });
    expect(named('capri ii').reason).toBeTruthy();
  });
});
