import { randomUUID } from 'node:crypto';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from '../runtime';
import { StoreUnavailable } from '../store';
import type { ApiContext } from './context';
import { OPERATIONS } from './openapi';
import { EventStreams } from './events';
import { Metrics } from './metrics';
import { Problem } from './problems';
import { eventRoutes } from './routes/events';
import { itemRoutes } from './routes/items';
import { jobRoutes } from './routes/jobs';
import { metricRoutes } from './routes/metrics';
import { retryRoutes } from './routes/retries';
import { serviceRoutes } from './routes/service';

/** What a client still sends after an early answer is read and dropped for this long, ms, so that it sees the answer. */
const LINGER_MS = 2_000;

/** The HTTP surface over a context. */
export function createApp(plain: ApiContext): Express {
  const metrics: Metrics = new Metrics(plain, () => streams.open);
  const context = metrics.observe(plain);
  const streams = new EventStreams(context);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(logRequests(context.runtime.log));
  app.use(jobRoutes(context), itemRoutes(context), eventRoutes(context, streams));
  app.use(retryRoutes(context), serviceRoutes(context), metricRoutes(metrics));
  app.use((request) => {
    throw unknownRoute(request);
  });
  app.use(answerErrors(context.runtime.log));
  return app;
}

function logRequests(log: Logger): RequestHandler {
  return (request, response, next) => {
    const given = request.get('x-request-id');
    const requestId = given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID();
    const startedAt = performance.now();
    response.set('x-request-id', requestId);
    response.locals['requestId'] = requestId;
    response.on('close', () => {
      const ms = Math.round(performance.now() - startedAt);
      log.debug({ requestId, method: request.method, path: request.path, status: response.statusCode, ms }, 'request');
    });
    next();
  };
}

/** A path that exists under another method is told from one that does not exist. */
function unknownRoute(request: Request): Problem {
  const allowed = OPERATIONS.filter((operation) =>
    new RegExp(`^${operation.path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(request.path),
  ).map((operation) => operation.method.toUpperCase());
  if (allowed.length === 0) return new Problem('not_found', `there is no route ${request.path}`);
  return new Problem('method_not_allowed', `${request.path} takes ${allowed.join(', ')}`, { allowed });
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailable) return new Problem('store_unavailable', error.message);
  // Express itself refuses a path that cannot be decoded.
  if (error instanceof URIError) return new Problem('not_found', 'the path cannot be decoded');
  return new Problem('internal', 'the request could not be answered');
}

function answerErrors(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const problem = toProblem(error);
    const requestId: unknown = response.locals['requestId'];
    if (problem.status >= 500) log.error({ err: error, requestId }, 'a request failed');
    if (response.headersSent) {
      // Half an answer cannot be taken back; a broken connection says that it is not whole.
      request.destroy();
      return next();
    }
    if (problem.extras['allowed']) response.set('allow', (problem.extras['allowed'] as string[]).join(', '));
    if (problem.status === 503) response.set('retry-after', '5');
    linger(request, response);
    response
      .status(problem.status)
      .type('application/problem+json')
      .send(JSON.stringify({ ...problem.toJSON(), requestId }));
  };
}

/**
 * After an answer that comes before the body is through, the rest is read and dropped for a while. No `Connection:
 * close`, with which Node would cut the connection at once: clients that send all before they read would not see why.
 */
function linger(request: Request, response: Response): void {
  if (request.complete) return;
  response.on('finish', () => {
    const cut = setTimeout(() => request.destroy(), LINGER_MS).unref();
    request.on('close', () => clearTimeout(cut));
    request.resume();
  });
}
