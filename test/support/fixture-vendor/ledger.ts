/** What a vendor remembers: its own account, which a test holds against the product's. */

export interface Charge {
  readonly key: string;
  readonly at: number;
  readonly body: unknown;
}

export interface Submission {
  readonly id: string;
  readonly key: string;
  readonly body: unknown;
  verdict: Verdict | null;
  cancelled: boolean;
  expired: boolean;
  /** How often it was asked about. */
  asked: number;
}

export interface Verdict {
  readonly verdict: 'accepted' | 'rejected';
  readonly reasons?: readonly string[];
}

export class Ledger {
  /** Every charge that arrived and was accepted, also a second one under the same key. */
  readonly charges: Charge[] = [];
  private readonly keys = new Set<string>();
  readonly submissions = new Map<string, Submission>();
  /** Starts, and charges where keys are honoured, that came again under a known key: answered with what there was. */
  repeated = 0;
  statusRequests = 0;
  idsAsked = 0;
  readonly cancelRequests: string[] = [];

  charge(key: string, body: unknown): Charge {
    const charge = { key, at: Date.now(), body };
    this.charges.push(charge);
    this.keys.add(key);
    return charge;
  }

  isCharged(key: string): boolean {
    return this.keys.has(key);
  }

  /** Keys that were charged more than once: what should never be. */
  get chargedTwice(): string[] {
    const counts = new Map<string, number>();
    for (const { key } of this.charges) counts.set(key, (counts.get(key) ?? 0) + 1);
    return [...counts].filter(([, count]) => count > 1).map(([key]) => key);
  }

  submit(key: string, body: unknown): Submission {
    const known = this.byKey(key);
    if (known) {
      this.repeated++;
      return known;
    }
    const id = `sub-${this.submissions.size + 1}`;
    const submission = { id, key, body, verdict: null, cancelled: false, expired: false, asked: 0 };
    this.submissions.set(id, submission);
    return submission;
  }

  byKey(key: string): Submission | undefined {
    return [...this.submissions.values()].find((submission) => submission.key === key);
  }

  toJSON(): object {
    const { charges, repeated, statusRequests, idsAsked, cancelRequests } = this;
    return { charges, submissions: [...this.submissions.values()], repeated, statusRequests, idsAsked, cancelRequests };
  }
}
