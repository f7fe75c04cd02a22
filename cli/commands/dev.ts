import type { Command } from 'commander';
import type { Cli, OutputFlags, Shell } from '../cli';
import type { Dev } from '../dev';
import { lazy } from '../lazy';
import { writeJson, writeLine } from '../output';
import { block } from '../text/table';

interface Flags extends OutputFlags {
  readonly port?: string;
  readonly data?: string;
  readonly payloads?: string;
  readonly persist: boolean;
}

const HELP = `
Uses the Temporal server that TEMPORAL_ADDRESS names, else starts one. Other settings go through
the environment to the API and the worker. With ITEMWISE_QUEUE=in-process there is no Temporal, and
the API is the worker too. Ctrl-C lets what runs end, a second one does not.`;

export function defineDev(program: Command, cli: Cli): void {
  program
    .command('dev')
    .description('run Temporal, the API and a worker until Ctrl-C')
    .option('--port <port>', 'port of the API, 0 for a free one (env: ITEMWISE_PORT, default: 8080)')
    .option('--data <dir>', 'folder of the database and of temporal.db (env: ITEMWISE_DATA, default: .itemwise)')
    .option('--payloads <path>', 'module that exports the payloads (env: ITEMWISE_PAYLOADS)')
    .option('--no-persist', 'Temporal keeps its runs in memory')
    .option('--json', 'when ready, one line on stdout: {"ready": true, "api": url, "temporalUi": url or null}')
    .addHelpText('after', HELP)
    .action(cli.action((flags: Flags) => dev(cli.shell, flags)));
}

async function dev({ stdout, stderr, env }: Shell, { json, ...flags }: Flags): Promise<void> {
  const { startDev, untilStopped, formatLogLine } = lazy.dev();
  const say = (line: string): void => void stderr.write(`${line}\n`);
  const log = (who: string, line: string): void => say(json ? line : formatLogLine(who, line));
  await untilStopped(() => startDev({ ...flags, env, say, log }), {
    say,
    whenUp: (up) =>
      json
        ? writeJson(stdout, { ready: true, api: up.api, temporalUi: up.temporalUi ?? null })
        : writeLine(stdout, welcome(up)),
  });
  say('Stopped.');
}

function welcome({ api, temporalUi }: Dev): string {
  const places = block([
    ['  API', api],
    ['  Temporal UI', temporalUi ?? 'none'],
  ]);
  const more = api.endsWith(':8080') ? '' : ` --api ${api}`;
  return `\nItemwise is ready.\n${places}\n\n  itemwise submit FILE --capability NAME --watch${more}\n\nCtrl-C stops it.\n`;
}
