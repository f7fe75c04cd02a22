import type { CallInfo, CallOptions, OnceOptions, Vendor } from '../../contract';
import type { Calls } from '../calls/calls';

/** `ctx.once`: an effect of the item or batch in hand. */
export function performOnce<Result>(
  calls: () => Calls,
  name: string,
  effect: (key: string) => Promise<Result> | Result,
  options: OnceOptions = {},
): Promise<Result> {
  return perform<Result>(calls, () => ({
    kind: 'once',
    vendor: null,
    call: `once/${checkName(name)}`,
    args: options.args,
    idempotent: true,
    send: ({ key }: CallInfo) => effect(key),
  }));
}

/** `ctx.vendor(name)`. */
export function vendorOf(vendor: string, calls: () => Calls): Vendor {
  checkName(vendor);
  return {
    call: <Result>(
      name: string,
      send: (call: CallInfo) => Promise<Result> | Result,
      options: CallOptions<Result> = {},
    ) =>
      perform<Result>(calls, () => ({
        kind: 'vendor',
        vendor,
        call: `${vendor}/${checkName(name)}`,
        args: options.args,
        idempotent: options.idempotent ?? false,
        send,
        reconcile: options.reconcile && ((info) => options.reconcile!(info)),
        cancel: options.cancel && ((info) => options.cancel!(info)),
      })),
  };
}

/** What a payload in JavaScript passes may be anything; a name ends up in the journal, and before people. */
function checkName(name: unknown): string {
  if (typeof name === 'string' && name.length > 0 && Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  throw new TypeError(`a vendor, call or effect has a name of 1 to ${MAX_NAME_BYTES} bytes`);
}
const MAX_NAME_BYTES = 200;

async function perform<Result>(calls: () => Calls, spec: () => Parameters<Calls['perform']>[0]): Promise<Result> {
  return (await calls().perform(spec())) as Result;
}
