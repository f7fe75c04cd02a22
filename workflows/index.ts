/** The entry of the workflow bundle: what Temporal runs deterministically. */
export { itemwiseJob } from './job';
