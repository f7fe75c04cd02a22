/** The marks of errors that a verb of Context throws for the runner's reasons, not the payload's. */

export interface UnsettledCall {
  readonly call: string;
  readonly vendor: string | null;
  readonly key: string;
}

/** A paid call was made, or may have been, and nobody can tell what came of it: a person has to look. */
export class UnknownCharge extends Error {
  override readonly name = 'UnknownCharge';

  constructor(
    readonly unsettled: UnsettledCall,
    readonly remoteId: string | null = null,
  ) {
    super(`it is not known what came of the call ${JSON.stringify(unsettled.call)}, which may have been charged`);
  }
}

/** As many waits of the kind are open as may: the item is to come again later, as if it had not been started. */
export class CeilingFull extends Error {
  override readonly name = 'CeilingFull';

  constructor(wait: string) {
    super(`as many waits for ${wait} are open as may`);
  }
}
