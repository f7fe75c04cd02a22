/** What payloads throw, by what is odd about it. */

function deepCause(levels: number): Error {
  let error = new Error('the root');
  for (let level = 0; level < levels; level++) error = new Error(`level ${level}`, { cause: error });
  return error;
}

function cyclicCause(): Error {
  const error = new Error('round and round');
  error.cause = new Error('the other', { cause: error });
  return error;
}

function longStack(): Error {
  const error = new Error('long stack');
  error.stack = `Error: long stack\n${'    at somewhere (file.ts:1:1)\n'.repeat(10_000)}`;
  return error;
}

/** Whatever is read of it throws. */
export function untouchable(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

export const hugeError = (): Error => Object.assign(new Error('m'.repeat(5_000_000)), { code: 'kept' });

export const THROWN: Readonly<Record<string, () => unknown>> = {
  'a message of 5 MB': hugeError,
  'a stack of 10,000 lines': longStack,
  '500 causes': () => deepCause(500),
  'a cause in a circle': cyclicCause,
  'a text': () => 'just a text',
  undefined: () => undefined,
  'a message with U+0000 and half a pair': () => new Error('a\0b\ud800c'),
  'a property that throws': () => ({
    get message(): string {
      throw new Error('not even this');
    },
  }),
  'an object of which nothing can be read': untouchable,
};
