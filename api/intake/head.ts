import type { Payload, Registry } from '../../contract';
import { Problem } from '../problems';
import { headSchema, type SubmitHead } from '../schemas';
import { parse, toIssueList } from '../validation';
import { findFlaw } from './depth';

const MISFIT = 'the request does not fit its schema';

export interface CheckedHead extends SubmitHead {
  readonly payload: Payload;
}

/** What a submit says beside its items. Its fields are checked as they come: a mistake is heard before a long upload. */
export class Head {
  private readonly fields = new Map<string, unknown>();
  private payload: Payload | undefined;

  constructor(private readonly registry: Registry) {}

  /** A field begins. @throws Problem when there is none of this name, or it was there before. */
  announce(field: string): void {
    if (!Object.hasOwn(headSchema.shape, field)) throw misfit(field, 'there is no such field');
    if (this.fields.has(field)) throw misfit(field, 'stands more than once');
    this.fields.set(field, undefined);
  }

  /** @throws Problem when the value does not fit. */
  set(field: string, value: unknown): void {
    checkValue(field, value);
    this.fields.set(field, value);
    const { capability, params } = parse(headSchema.partial(), this.raw, 'invalid_request', MISFIT);
    if (field === 'capability') this.payload = this.find(capability!);
    if (this.payload && params !== undefined) checkParams(this.payload, params);
  }

  /** The whole head, when all of it is there. @throws Problem */
  complete(): CheckedHead {
    const head = parse(headSchema, this.raw, 'invalid_request', MISFIT);
    const payload = this.payload ?? this.find(head.capability);
    checkParams(payload, head.params);
    return { ...head, payload };
  }

  private get raw(): Record<string, unknown> {
    return Object.fromEntries(this.fields);
  }

  private find(capability: string): Payload {
    const payload = this.registry.get(capability);
    if (payload) return payload;
    const known = this.registry.list().map((entry) => entry.capability);
    throw new Problem(
      'unknown_capability',
      `there is no capability ${JSON.stringify(capability)}; there are ${known.join(', ')}`,
    );
  }
}

function misfit(path: string, message: string): Problem {
  return new Problem('invalid_request', `${MISFIT}: ${path}: ${message}`, { issues: [{ path, message }] });
}

function checkValue(field: string, value: unknown): void {
  const flaw = findFlaw(value);
  if (flaw === 'too_deep') throw new Problem('too_deep', `${field} is nested too deeply`);
  if (flaw === 'infinite') throw misfit(field, 'has a number beyond 1.8e308');
  // The schema would pass over it without a word.
  if (field === 'labels' && typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__'))
    throw misfit('labels.__proto__', 'is not a name for a label');
}

function checkParams(payload: Payload, params: unknown): void {
  const parsed = payload.params.safeParse(params ?? {});
  if (parsed.success) return;
  throw new Problem('invalid_params', `the params do not fit ${payload.capability}`, {
    issues: toIssueList(parsed.error),
  });
}
