/** What was seen of a run: the attempts of its lives, with the calls and requests of each. */

/** What keeps a call from being made twice. `effect`: `ctx.once`, which runs again under the same key. */
export type Protection = 'reconcile' | 'idempotent' | 'effect' | 'none';

/** One time that the function of a call was entered. */
export interface Sending {
  /** `declined`: it said that nothing was done. */
  end: 'sending' | 'answered' | 'declined' | 'failed';
  /** It looked at the key that it was given. */
  keyRead: boolean;
  /** It sent an HTTP request that changes something. */
  writes: boolean;
  /** Values of the header Idempotency-Key that it sent. */
  readonly keysSent: Set<string>;
}

/** A call of an attempt, whether or not it had to be sent. */
export interface Asked {
  readonly call: string;
  readonly protection: Protection;
  readonly sendings: Sending[];
}

/** One attempt of an item, or of a batch. */
export interface Attempt {
  /** The ids of its items. */
  readonly ids: readonly string[];
  /** Of the process that died, or of the one after it. */
  readonly life: 'first' | 'second';
  /** `run`, `batches`, or the wait that was answered. */
  readonly handler: string;
  readonly asked: Map<string, Asked>;
  /** Requests that change something and belong to no call, as `POST http://host/path`. */
  readonly loose: string[];
}

/** All attempts of a run, in their order. */
export class Records {
  readonly attempts: Attempt[] = [];

  begin(life: Attempt['life'], handler: string, ids: readonly string[]): Attempt {
    const attempt: Attempt = { ids, life, handler, asked: new Map(), loose: [] };
    this.attempts.push(attempt);
    return attempt;
  }

  /** The attempts of each item or batch. */
  bySubject(): Attempt[][] {
    const subjects = new Map<string, Attempt[]>();
    for (const attempt of this.attempts) {
      const subject = JSON.stringify(attempt.ids);
      subjects.set(subject, [...(subjects.get(subject) ?? []), attempt]);
    }
    return [...subjects.values()];
  }
}

export function askedOf(attempt: Attempt, call: string, protection: Protection): Asked {
  const known = attempt.asked.get(call);
  if (known) return known;
  const asked: Asked = { call, protection, sendings: [] };
  attempt.asked.set(call, asked);
  return asked;
}

/** The call was entered. */
export function entered({ sendings }: Asked): Sending {
  const sending: Sending = { end: 'sending', keyRead: false, writes: false, keysSent: new Set() };
  sendings.push(sending);
  return sending;
}

/** Sendings of a call in some attempts. */
export function sendingsOf(attempts: readonly Attempt[], call: string): Sending[] {
  return attempts.flatMap((attempt) => attempt.asked.get(call)?.sendings ?? []);
}
