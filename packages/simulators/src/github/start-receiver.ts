import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenHttp } from '@paddock/runtime/http-server';

export type ReceivedDelivery = {
  readonly guid: string;
  readonly event: string;
  readonly action: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type Receiver = {
  readonly url: string;
  /** In the order of arrival. */
  readonly received: readonly ReceivedDelivery[];
  /** The answers to the next deliveries; `hang` answers nothing. */
  readonly answerWith: (status: number | 'hang') => void;
  readonly stop: () => Promise<void>;
};

/** The receiver of a webhook: remembers the deliveries. */
export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  let answer: number | 'hang' = 202;
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    received.push({
      guid: String(request.headers['x-github-delivery']),
      event: String(request.headers['x-github-event']),
      action: (JSON.parse(body) as { readonly action?: string }).action,
      headers: request.headers,
      body,
    });
    if (answer !== 'hang') response.writeHead(answer).end();
  };
  const { port, server, close } = await listenHttp((...exchange) => void receive(...exchange), {
    port: 0,
    host: '127.0.0.1',
  });
  return {
    url: `http://127.0.0.1:${port}/webhooks/github`,
    received,
    answerWith: (status) => void (answer = status),
    stop: async () => {
      const closed = close();
      server.closeAllConnections();
      await closed;
    },
  };
}
