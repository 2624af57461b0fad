import { once } from 'node:events';
import { type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { listenHttp } from '@paddock/runtime/http-server';

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

/**
 * Passes HTTP calls on to `target`, and stops one of them for as long as a test likes: as if the
 * caller stood still meanwhile.
 */
export async function startHoldingProxy(target: string) {
  let next: { call: HeldCall; reached: () => void; released: Promise<void> } | undefined;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
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

  const { port, server, close } = await listenHttp(
    (request, response) => {
      // Both ends report a broken connection to their own users.
      serve(request, response).catch(() => response.destroy());
    },
    { port: 0, host: '127.0.0.1' },
  );
  return {
    url: `http://127.0.0.1:${port}`,
    /** `reached` resolves when the call has come so far. */
    hold(call: HeldCall) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      next = { call, reached: reached.resolve, released: released.promise };
      return { reached: reached.promise, release: released.resolve };
    },
    async stop(): Promise<void> {
      const closed = close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const fits = ({ method, path }: HeldCall, request: IncomingMessage): boolean =>
  request.method === method && new RegExp(path).test((request.url ?? '').replace(/\?.*$/, ''));
