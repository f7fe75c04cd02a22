/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let told = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (told) process.exit(130);
      told = true;
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
