import { createApp } from '@paddock/runtime/http-server';
import type { Express, Response } from 'express';
import type { Answer, ReceiveDelivery } from './receive-delivery.ts';

const WEBHOOK_PATHS = ['/webhooks/github', '/'];

/** When a sender may try again after a 503. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Takes deliveries only. Health and metrics have another port, so that a network policy can
 * separate them. An answer shows only whether the service can store a signed delivery now. While the
 * service stops, it closes each connection after its answer. `GET /` is for load balancers whose health
 * check asks the port that they serve: it says that the process answers, and nothing else.
 */
export function createListener(receive: ReceiveDelivery, isStopping: () => boolean): Express {
  const app = createApp();
  app.get('/', (_request, response) => send(response, { status: 200, text: 'ok' }));
  app
    .route(WEBHOOK_PATHS)
    .post(async (request, response) => {
      const answer = await receive(request, response);
      if (isStopping() || answer.endsConnection === true) response.set('connection', 'close');
      send(response, answer);
    })
    .all((_request, response) =>
      send(response.set('allow', 'POST'), { status: 405, text: 'Deliveries are sent with POST.' }),
    );
  app.use((_request, response) => send(response, { status: 404, text: 'There is nothing here.' }));
  return app;
}

function send(response: Response, { status, text }: Answer): void {
  if (status === 503) response.set('retry-after', String(RETRY_AFTER_SECONDS));
  response.status(status).type('text').send(`${text}\n`);
}
