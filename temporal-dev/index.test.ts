import { ensureTemporal } from './index';

describe('ensureTemporal', () => {
  test('uses what TEMPORAL_ADDRESS names, and never starts or stops it', async () => {
    const temporal = await ensureTemporal({ env: { TEMPORAL_ADDRESS: 'temporal.example:7233', PATH: '' } });
    expect(temporal).toMatchObject({ address: 'temporal.example:7233', namespace: 'default', external: true });
    expect(temporal.uiUrl).toBeUndefined();
    expect(temporal.exited).toBeUndefined();
    await temporal.stop();
  });

  test('TEMPORAL_NAMESPACE and TEMPORAL_UI_URL go with it', async () => {
    const env = {
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'jobs',
      TEMPORAL_UI_URL: 'http://temporal.example',
    };
    expect(await ensureTemporal({ env })).toMatchObject({ namespace: 'jobs', uiUrl: 'http://temporal.example' });
  });
});
