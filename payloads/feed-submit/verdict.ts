import { z, type Checked } from '../../contract';

/** What the vendor says when it has looked at an entry. */
export const verdict = z.object({
  submissionId: z.string(),
  verdict: z.enum(['accepted', 'rejected']),
  /** Why it was rejected; of an accepted one, what the vendor did not like. */
  reasons: z.array(z.string()),
});
type Verdict = z.input<typeof verdict>;

/** No stricter than it has to be: what does not fit here is not understood, and waited for. */
const vendorState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('pending') }),
  z.object({ state: z.literal('expired'), reason: z.unknown().optional() }),
  z.object({ state: z.literal('decided'), verdict: z.unknown().optional(), reasons: z.unknown().optional() }),
]);

/**
 * What the vendor's state of a submission means for who waits for it; undefined when the vendor uses a word that is not
 * known here. What it decided is passed on as it is: the runner holds it to `verdict`, and fails that one item if it
 * does not fit, where an error here would fail the check of all that were asked about.
 */
export function toChecked(submissionId: string, said: unknown): Checked<Verdict> | undefined {
  const parsed = vendorState.safeParse(said);
  if (!parsed.success) return undefined;
  const state = parsed.data;
  if (state.state === 'decided') {
    return {
      state: 'ready',
      answer: { submissionId, verdict: state.verdict, reasons: state.reasons ?? [] } as Verdict,
    };
  }
  if (state.state === 'pending' || typeof state.reason !== 'string') return { state: state.state };
  return { state: 'expired', reason: state.reason };
}
