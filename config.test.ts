import { ConfigError, SETTINGS, loadConfig } from './config';

describe('settings', () => {
  it('come from an option before the environment before the default', () => {
    expect(loadConfig({}).port).toBe(8080);
    expect(loadConfig({ ITEMWISE_PORT: '9000' }).port).toBe(9000);
    expect(loadConfig({ ITEMWISE_PORT: '9000' }, { port: '9001' }).port).toBe(9001);
    expect(loadConfig({ ITEMWISE_PORT: '' }).port).toBe(8080);
  });

  it('are typed, in ms and bytes, and frozen', () => {
    const config = loadConfig({ ITEMWISE_HEARTBEAT_TIMEOUT: '1500', ITEMWISE_UNIT_BUDGET: '2m' });
    expect(config).toMatchObject({ heartbeatTimeoutMs: 1_500, unitBudgetMs: 120_000, maxItems: 300_000 });
    expect(config.rolloverEvents).toBeUndefined();
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('list every mistake at once, each with the variable, the value and what is wrong', () => {
    const wrong = {
      ITEMWISE_PORT: 'http',
      ITEMWISE_QUEUE: 'kafka',
      ITEMWISE_HOST: '0.0.0.0',
      ITEMWISE_SHUTDOWN_GRACE: 'soon',
    };
    const load = (): unknown => loadConfig(wrong);
    expect(load).toThrow(ConfigError);
    try {
      load();
    } catch (error) {
      const { mistakes } = error as ConfigError;
      expect(mistakes).toHaveLength(4);
      expect(mistakes.join('\n')).toMatch(/ITEMWISE_PORT="http": not a number/);
      expect(mistakes.join('\n')).toMatch(/ITEMWISE_HOST="0.0.0.0": not a loopback address/);
      expect(mistakes.join('\n')).toMatch(/ITEMWISE_SHUTDOWN_GRACE="soon": not a duration/);
    }
  });

  it('refuse the in-process queue in production, unless forced', () => {
    const env = { ITEMWISE_QUEUE: 'in-process', NODE_ENV: 'production' };
    expect(() => loadConfig(env)).toThrow(/ITEMWISE_FORCE_IN_PROCESS/);
    expect(loadConfig({ ...env, ITEMWISE_FORCE_IN_PROCESS: '1' }).queue).toBe('in-process');
  });

  it('have defaults that are valid', () => {
    expect(Object.keys(loadConfig({})).length).toBeGreaterThan(Object.keys(SETTINGS).length - 4);
  });
});
