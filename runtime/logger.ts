import pino from 'pino';

/** Keys whose values never reach a log, wherever they stand. */
const SECRET_KEYS = ['authorization', 'cookie', 'apiKey', 'password', 'secret', 'token'];
const REDACT = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`, `req.headers["${key}"]`]);

export type Logger = pino.Logger;

/** Structured lines on standard error: standard output is for answers. */
export function createLogger(name: string, level: string): Logger {
  return pino(
    { name, level, redact: { paths: REDACT, censor: '[redacted]' }, base: { pid: process.pid } },
    pino.destination({ dest: 2, sync: true }),
  );
}
