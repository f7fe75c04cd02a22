/** An error that the runner retries, with a stable code for the outcome. */
export function codedError(code: string, message: string, cause?: unknown): Error & { code: string } {
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { code });
}

/** How deep undici hides the socket's error under its own. */
const MAX_CAUSES = 5;

/**
 * What a failed exchange with `url` is reported as: Node's code where there is one (`ECONNREFUSED`, `ENOTFOUND`,
 * `UND_ERR_SOCKET`), else `network_error`. undici's own message says only "fetch failed".
 */
export function networkError(error: unknown, url: URL): Error & { code: string } {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof current === 'object' && current !== null; depth++) {
    const { code, cause } = current as { code?: unknown; cause?: unknown };
    if (typeof code === 'string') return codedError(code, `no answer from ${url.host}: ${code}`, error);
    current = cause;
  }
  return codedError('network_error', `no answer from ${url.host}`, error);
}
