/** `npm run temporal`: the Temporal dev server alone, until Ctrl-C. */
import { Command, InvalidArgumentError } from 'commander';
import { DEFAULT_PORT, DEFAULT_UI_PORT, ensureTemporal, type Temporal } from './index';

interface Flags {
  port: number;
  uiPort: number;
  db?: string;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function portNumber(value: string): number {
  const port = Number(value);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new InvalidArgumentError('Not a port number.');
  return port;
}

function parseFlags(argv: readonly string[]): Flags {
  return new Command('temporal')
    .description('Starts a Temporal dev server with what Itemwise wants of it, and stops it on Ctrl-C.')
    .option('--port <port>', 'port of the server, if free', portNumber, DEFAULT_PORT)
    .option('--ui-port <port>', 'port of the UI, if free', portNumber, DEFAULT_UI_PORT)
    .option('--db <file>', 'file, or folder, that keeps everything across restarts (default: in memory)')
    .parse(argv)
    .opts<Flags>();
}

function describe(temporal: Temporal, { port, uiPort, db }: Flags): string {
  const ui = temporal.uiUrl ?? 'unknown (set TEMPORAL_UI_URL)';
  const lines = [`Temporal:  ${temporal.address}`, `UI:        ${ui}`, `Namespace: ${temporal.namespace}`];
  if (temporal.external) return [...lines, 'TEMPORAL_ADDRESS names it, so nothing was started.'].join('\n');
  if (!temporal.address.endsWith(`:${port}`)) lines.push(`Port ${port} was taken, so it has another.`);
  if (!temporal.uiUrl?.endsWith(`:${uiPort}`)) lines.push(`Port ${uiPort} was taken, so the UI has another.`);
  lines.push(db === undefined ? 'Data:      in memory' : `Data:      ${db}`);
  return [...lines, 'Ctrl-C stops it.'].join('\n');
}

async function main(): Promise<void> {
  const flags = parseFlags(process.argv);
  // From the start on, so that a Ctrl-C during a build or a start is an orderly exit, which ends what was begun.
  let onSignal = (): void => process.exit(130);
  for (const signal of STOP_SIGNALS) process.on(signal, () => onSignal());
  const { port, uiPort, db } = flags;
  const temporal = await ensureTemporal({ port, uiPort, persistTo: db, onProgress: (line) => console.error(line) });
  console.log(describe(temporal, flags));
  if (temporal.exited === undefined) return;

  let stopping = false;
  onSignal = () => {
    stopping = true;
    void temporal.stop();
  };
  const { code, signal } = await temporal.exited;
  if (!stopping) throw new Error(`The Temporal dev server ended by itself (${signal ?? `code ${code}`}).`);
  console.log('Stopped.');
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
