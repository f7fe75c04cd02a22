import { Router } from 'express';
import type { Metrics } from '../metrics';

export function metricRoutes(metrics: Metrics): Router {
  const router = Router();

  router.get('/metrics', async (_request, response) => {
    response.set('content-type', metrics.contentType).send(await metrics.text());
  });

  return router;
}
