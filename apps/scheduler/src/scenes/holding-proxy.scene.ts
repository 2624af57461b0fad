import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as send,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** Which call is stopped: the first whose method and path fit. */
export interface HeldCall {
  readonly method: string;
  /** Source of a regular expression. */
  readonly path: string;
  /**
   * Where it is stopped: on its way, before anything is done, or its answer on the way back, after
   * all was done.
   */
  readonly at: 'call' | 'answer';
}

export interface Held {
  /** Resolves when the call has come so far. */
  readonly reached: Promise<void>;
  release(): void;
}

/**
 * Passes HTTP calls on to `target`, and stops one of them for as long as a test likes: as if the
 * caller stood still meanwhile.
 */
export async function startHoldingProxy(target: string) {
  let next: { call: HeldCall; reached: () => void; released: Promise<void> } | undefined;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await read(request);
    const held = next !== undefined && fits(next.call, request) ? next : undefined;
    if (held !== undefined) next = undefined;
    const stop = async (at: HeldCall['at']): Promise<void> => {
      if (held?.call.at !== at) return;
      held.reached();
      await held.released;
    };
    await stop('call');
    const { method, headers } = request;
    const onward = send(new URL(request.url ?? '/', target), { method, headers, agent: false });
    onward.end(body);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    await stop('answer');
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    await pipeline(answer, response);
  };

  const server = createServer((request, response) => {
    // Both ends report a broken connection to their own users.
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(call: HeldCall): Held {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      next = { call, reached: reached.resolve, released: released.promise };
      return { reached: reached.promise, release: released.resolve };
    },
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const fits = ({ method, path }: HeldCall, request: IncomingMessage): boolean =>
  request.method === method && new RegExp(path).test((request.url ?? '').replace(/\?.*$/, ''));

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
