import { z, type CheckContext, type Checked, type Reconciled } from '../../contract';
import { codedError } from '../shared/errors';
import type { Submission } from './entry';
import { exchange, type Answer, type Question } from './exchange';
import { askRefusal, submitRefusal } from './refusal';
import type { Account } from './settings';
import { toChecked, type verdict } from './verdict';

/** Longest id that the runner keeps. */
const made = z.object({ id: z.string().min(1).max(1_000) });
const states = z.object({ states: z.record(z.string(), z.unknown()) });

type Ask = Pick<CheckContext, 'signal' | 'log'>;

/** The vendor's HTTP API. What each throws is in `refusal.ts` and `exchange.ts`. */
export class FeedVendor {
  constructor(private readonly account: Account) {}

  /** Submits an entry and returns the submission's id. The same key gives the same submission. */
  async submit(submission: Submission, key: string, signal: AbortSignal): Promise<string> {
    const headers = { 'idempotency-key': key };
    const answer = await this.send({ method: 'POST', path: '/submissions', headers, body: submission, signal });
    return read(answer, made, submitRefusal).id;
  }

  /** What became of a submission whose answer was lost. */
  async find(key: string, signal: AbortSignal): Promise<Reconciled<string>> {
    const answer = await this.send({ method: 'GET', path: `/submissions?key=${encodeURIComponent(key)}`, signal });
    if (answer.status === 404) return { state: 'absent' };
    return { state: 'done', result: read(answer, made, askRefusal).id };
  }

  /** Asks about many submissions at once. One that the vendor does not know is not in the answer. */
  async statesOf(
    ids: readonly string[],
    { signal, log }: Ask,
  ): Promise<Record<string, Checked<z.input<typeof verdict>>>> {
    const answer = await this.send({ method: 'POST', path: '/submissions/status', body: { ids }, signal });
    const said = Object.entries(read(answer, states, askRefusal).states);
    const strange: string[] = [];
    const checked = said.map(([id, state]) => {
      const known = toChecked(id, state);
      if (!known) strange.push(id);
      // A state that the vendor added since is waited out: it has the submission, and has not decided.
      return [id, known ?? { state: 'pending' }] as const;
    });
    if (strange.length > 0) {
      log.warn('the vendor is in a state that is not known', { submissions: strange.length, one: strange[0] });
    }
    return Object.fromEntries(checked);
  }

  async cancel(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const answer = await this.send({ method: 'POST', path: '/submissions/cancel', body: { ids }, signal });
    const refusal = askRefusal(answer);
    if (refusal) throw refusal;
  }

  private send(question: Question): Promise<Answer> {
    return exchange(this.account, question);
  }
}

/** @throws what `refusalOf` makes of the answer; an error with the code `bad_answer` when it is not understood. */
function read<S extends z.ZodType>(
  answer: Answer,
  schema: S,
  refusalOf: (answer: Answer) => Error | undefined,
): z.output<S> {
  const refusal = refusalOf(answer);
  if (refusal) throw refusal;
  try {
    return schema.parse(JSON.parse(answer.text));
  } catch (error) {
    throw codedError('bad_answer', `the vendor's answer is not understood: ${answer.text.slice(0, 200)}`, error);
  }
}
