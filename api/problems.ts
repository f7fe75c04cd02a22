/**
 * Every error that the API answers with: one table. A problem's `code` is stable; a test holds the routes, the OpenAPI
 * document and docs/problems.md to this table.
 */
interface ProblemKind {
  readonly status: number;
  /** What it means. */
  readonly title: string;
  /** What the caller can do. */
  readonly remedy: string;
}

const kind = (status: number, title: string, remedy: string): ProblemKind => ({ status, title, remedy });

export const PROBLEMS = {
  invalid_json: kind(400, 'The body is not valid JSON', 'Mend the body at the position given.'),
  invalid_line: kind(400, 'A line of the NDJSON body is not valid', 'Mend the line given; each is one JSON object.'),
  truncated_body: kind(400, 'The body ended before it was complete', 'Send the whole body again; nothing was kept.'),
  too_deep: kind(400, 'The JSON is nested too deeply', 'Flatten it to 64 levels or fewer.'),
  invalid_request: kind(400, 'The request does not fit its schema', 'Mend the fields listed in `issues`.'),
  invalid_cursor: kind(400, 'The cursor is not one that was given out', 'Start over without `after`.'),
  not_found: kind(404, 'There is no such route', 'See /openapi.json.'),
  job_not_found: kind(404, 'There is no such job', 'Check the id; a deleted job is gone.'),
  item_not_found: kind(404, 'The job has no such item', 'Check the id of the item.'),
  dead_letter_not_found: kind(404, 'There is no such dead letter', 'Check the id; those of a deleted job are gone.'),
  method_not_allowed: kind(405, 'The route does not take this method', 'See the Allow header.'),
  job_not_terminal: kind(409, 'The job has not ended', 'Cancel it, or wait for its end.'),
  not_possible_now: kind(409, 'The state of the job does not allow this', 'Read the job: its state says why.'),
  body_too_large: kind(413, 'The body is over the limit', 'Split the job; the limit is in /v1/manifest.'),
  item_too_large: kind(413, 'An item is over the limit', 'Keep the input elsewhere and send a reference to it.'),
  unsupported_media_type: kind(
    415,
    'The content type is not one that is taken',
    'Send application/json or application/x-ndjson, not compressed.',
  ),
  no_items: kind(422, 'The job has no items', 'Send at least one item.'),
  too_many_items: kind(422, 'The job has too many items', 'Split the job; the limit is in /v1/manifest.'),
  invalid_item: kind(422, 'An item cannot be taken as it is', 'Mend the item at the position given.'),
  invalid_item_id: kind(
    422,
    'An item id is not usable',
    'Ids are texts of 1 to 256 bytes without U+0000 or lone surrogates.',
  ),
  duplicate_item_id: kind(422, 'Two items have the same id', 'Give each item of the job an id of its own.'),
  unknown_capability: kind(422, 'There is no such capability', 'See /v1/manifest for those that are served.'),
  invalid_params: kind(422, 'The params do not fit the capability', 'Mend the fields listed in `issues`.'),
  idempotency_conflict: kind(422, 'The idempotency key was used with another body', 'Use a new key for a new job.'),
  not_retryable: kind(
    422,
    'There is nothing to be run again',
    'See `why`, `items` and `leftOut`; items with an open call are taken with `openCalls`.',
  ),
  internal: kind(500, 'Something went wrong here', 'Try again; the request id finds it in the log.'),
  store_unavailable: kind(503, 'The database cannot be used now', 'Try again shortly; nothing was kept.'),
  too_many_streams: kind(503, 'Too many event streams are open', 'Try again shortly, or ask for the job with `wait`.'),
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface ProblemExtras {
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
  readonly [field: string]: unknown;
}

/** Thrown by a route; answered as RFC 9457 problem details. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly code: ProblemCode,
    detail: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(detail);
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  toJSON(): object {
    const { title, status, remedy } = PROBLEMS[this.code];
    return {
      type: `urn:itemwise:problem:${this.code}`,
      title,
      status,
      code: this.code,
      detail: this.message,
      remedy,
      ...this.extras,
    };
  }
}
