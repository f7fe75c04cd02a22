import { definePayload, defineWait, z, type Checked, type Payload } from '../../contract';

/** A vendor in this process, of something slow, and a payload whose items wait for it. */
export interface SlowVendor {
  readonly payload: Payload;
  /** Idempotency keys of its starts, in order. */
  readonly starts: string[];
  /** How often each remote id was asked about. */
  readonly asked: Map<string, number>;
  readonly cancelled: string[];
  /** Requests for checks, and the most remote ids in one. */
  requests: number;
  largestRequest: number;
  /** Most that were open at once: started, and not answered. */
  mostOpen: number;
  /** Runs of the payload's own code. */
  runs: number;
  resumes: number;
}

export interface SlowVendorOptions {
  /** A remote id is answered when it was asked about this often. */
  readonly answersAfter?: number;
  readonly every?: number;
  readonly maxOpen?: number;
}

export function slowVendor(options: SlowVendorOptions = {}): SlowVendor {
  const { answersAfter = 2, every = 500, maxOpen } = options;
  let open = 0;
  const verdict = defineWait({
    args: z.object({ id: z.string() }),
    answer: z.object({ verdict: z.string() }),
    start: ({ id }, { key }) => {
      vendor.starts.push(key);
      vendor.mostOpen = Math.max(vendor.mostOpen, ++open);
      return `remote-${id}`;
    },
    check: (ids) => {
      vendor.requests++;
      vendor.largestRequest = Math.max(vendor.largestRequest, ids.length);
      const states: Record<string, Checked<{ verdict: string }>> = {};
      for (const id of ids) {
        const times = (vendor.asked.get(id) ?? 0) + 1;
        vendor.asked.set(id, times);
        if (times === answersAfter) open--;
        states[id] = times < answersAfter ? { state: 'pending' } : { state: 'ready', answer: { verdict: `yes ${id}` } };
      }
      return states;
    },
    cancel: (ids) => void vendor.cancelled.push(...ids),
    every,
    ...(maxOpen !== undefined && { maxOpen }),
  });
  const payload = definePayload({
    name: 'test.wait',
    version: 1,
    vocabulary: [],
    input: z.looseObject({}),
    result: z.object({ verdict: z.string() }),
    waits: { verdict },
    run: (item, ctx) => {
      vendor.runs++;
      return ctx.wait('verdict', { id: item.id });
    },
    resume: {
      verdict: (_item, _ctx, answer) => {
        vendor.resumes++;
        return answer;
      },
    },
  });
  const vendor: SlowVendor = {
    payload,
    starts: [],
    asked: new Map(),
    cancelled: [],
    requests: 0,
    largestRequest: 0,
    mostOpen: 0,
    runs: 0,
    resumes: 0,
  };
  return vendor;
}
