import { definePayload, z } from '../../contract';

/** The cheapest payload: it does nothing, so what a job of it takes is the runner's own cost. */
export const itemEcho = definePayload({
  name: 'item.echo',
  version: 1,
  description: 'Does nothing and says so; used by the bench and to try a deployment.',
  // It has no domain, and so no words of one.
  vocabulary: [],
  input: z.looseObject({}),
  result: z.object({ ok: z.literal(true) }),
  run: () => ({ ok: true as const }),
});
