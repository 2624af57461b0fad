import type { Registry } from 'prom-client';
import type { Express } from 'express';
import { createApp } from './http-server.ts';

export interface HealthOptions {
  registry: Registry;
  /** Resolves to undefined when the service can do its work, else to a sentence with the reason. */
  whyNotReady: () => Promise<string | undefined>;
  /** Shown beside "ready": the operator should repair it, but work goes on. */
  warnings?: readonly (() => string | undefined)[];
}

/**
 * Serves `/healthz` (the process responds), `/readyz` (it can work) and `/metrics`. None of these
 * asks GitHub or Kubernetes: their absence must not restart us.
 */
export function createHealthApp({ registry, whyNotReady, warnings = [] }: HealthOptions): Express {
  const app = createApp();
  app.get('/healthz', (_request, response) => {
    response.type('text').send('ok\n');
  });
  app.get('/readyz', async (_request, response) => {
    const reason = await whyNotReady();
    const now = warnings.map((warning) => warning()).filter((said) => said !== undefined);
    response
      .status(reason === undefined ? 200 : 503)
      .type('text')
      .send(`${reason ?? ['ready', ...now].join('; ')}\n`);
  });
  app.get('/metrics', async (_request, response) => {
    response.type(registry.contentType).send(await registry.metrics());
  });
  app.use((_request, response) => {
    response.status(404).type('text').send('There is nothing here.\n');
  });
  return app;
}
