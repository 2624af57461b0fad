import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Answer, ReceiveDelivery } from './receive-delivery.ts';

/** The webhook's paths. A router in front would cost half of a request's work. */
const WEBHOOK_PATHS = new Set(['/webhooks/github', '/']);

/** When a sender may try again after a 503. */
const RETRY_AFTER_SECONDS = 10;

export interface ListenerOptions {
  readonly receive: ReceiveDelivery;
  /** While the service stops, it closes each connection after its answer. */
  readonly isStopping: () => boolean;
}

/**
 * Takes deliveries only. Health and metrics have another port, so that a network policy can
 * separate them. An answer shows only whether the service can store a signed delivery now.
 */
export function createListener({ receive, isStopping }: ListenerOptions): RequestListener {
  return (request, response) => {
    if (!WEBHOOK_PATHS.has(pathOf(request))) {
      request.resume();
      send(response, { status: 404, text: 'There is nothing here.' });
      return;
    }
    if (request.method !== 'POST') {
      request.resume();
      response.setHeader('allow', 'POST');
      send(response, { status: 405, text: 'Deliveries are sent with POST.' });
      return;
    }
    void answer(request, response);
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = await receive(request);
    if (isStopping() || given.endsConnection === true) response.setHeader('connection', 'close');
    send(response, given);
  }
}

function send(response: ServerResponse, { status, text }: Answer): void {
  const body = `${text}\n`;
  if (status === 503) response.setHeader('retry-after', RETRY_AFTER_SECONDS);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
