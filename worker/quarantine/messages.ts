import type { QuarantineRequest, SuspectsRun } from '../../activities/deps';
import type { ErrorInfo } from '../../model/error-info';

/** From the worker. `drain`: start nothing more. `ping` is answered by the event loop, if it turns. */
export type ToQuarantine =
  { readonly is: 'run'; readonly request: QuarantineRequest } | { readonly is: 'ping' } | { readonly is: 'drain' };

/** From the quarantine process. `failed`: what went wrong is no item's doing. */
export type FromQuarantine =
  | { readonly is: 'ready' }
  | { readonly is: 'pong' }
  | { readonly is: 'starting'; readonly index: number }
  | ({ readonly is: 'done' } & SuspectsRun)
  | { readonly is: 'failed'; readonly why: ErrorInfo };
