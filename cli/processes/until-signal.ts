import { EXIT } from '../exit-codes';

/**
 * Resolves at the first SIGTERM or SIGINT; a second one ends the process at once.
 * @param endAtOnce how, if it is more than to exit.
 */
export function untilSignal(endAtOnce: () => never = () => process.exit(EXIT.interrupted)): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let told = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (told) endAtOnce();
      told = true;
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/**
 * Resolves when this process, which another one has started, is told to stop, or is left alone by it. Further signals
 * are nothing new: where a service is stopped, each of its processes often gets one, and another one from its parent.
 */
export function untilToldOrAlone(): Promise<string> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
    process.once('disconnect', () => resolve('its supervisor is gone'));
    // Listening alone must not keep a process alive that has failed.
    process.channel?.unref();
  });
}
