/** Workflow time: inside the sandbox `Date` is Temporal's, the same on every replay. The only place that reads it. */
export function workflowNow(): number {
  // eslint-disable-next-line no-restricted-globals -- see above
  return Date.now();
}
