import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { headers } = request;
      received.push({
        guid: String(headers['x-github-delivery']),
        event: String(headers['x-github-event']),
        action: actionIn(body),
        headers,
        body,
      });
      if (answer !== 'hang') response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/github`,
    received,
    answerWith: (status) => {
      answer = status;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function actionIn(body: string): string | undefined {
  const payload: unknown = JSON.parse(body);
  return typeof payload === 'object' && payload !== null && 'action' in payload
    ? String(payload.action)
    : undefined;
}
