import { account, type Account } from './account';
import { Chaos, type ChaosOptions, type Facts, type Scenario } from './chaos';

/** A scenario that was played to its end, and its account. */
export interface Played {
  readonly facts: Facts;
  readonly account: Account;
  readonly ms: number;
}

/** TEST_CHAOS_SEED, else one of the clock's: it only has to be told. */
export function seedOf(env: NodeJS.ProcessEnv): number {
  const given = Number(env['TEST_CHAOS_SEED']);
  return Number.isInteger(given) && env['TEST_CHAOS_SEED'] ? given : Date.now() % 1_000_000;
}

/**
 * Plays a scenario on a service of its own, and takes the account of its jobs.
 * @throws Error of the scenario or the account, with the seed, and with what the processes said in a row before it.
 */
export async function play(scenario: Scenario, options: ChaosOptions): Promise<Played> {
  const chaos = new Chaos(options);
  const from = Date.now();
  try {
    const facts = await scenario.run(chaos);
    return { facts, account: await account(chaos.service, chaos.vendor, facts.jobs), ms: Date.now() - from };
  } catch (error) {
    const said = chaos.said();
    throw new Error(
      `${scenario.name} with seed ${options.seed}: ${error instanceof Error ? error.message : String(error)}${said}`,
      { cause: error },
    );
  } finally {
    await chaos.close();
  }
}
