import { once } from 'node:events';
import { type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { listenHttp } from '@paddock/runtime/http-server';
import { readFile } from 'node:fs/promises';
import { Agent, createServer as createSecureServer, request as sendSecurely } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';

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

export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;

/**
 * A proxy before a real API server, with its certificate, that breaks connections as networks and
 * load balancers do.
 */
export async function startFaultyProxy(
  target: string,
  certificate: { certFile: string; keyFile: string },
) {
  const [cert, key] = await Promise.all([
    readFile(certificate.certFile),
    readFile(certificate.keyFile),
  ]);
  const agent = new Agent({ keepAlive: true, ca: cert });
  const sockets = new Set<TLSSocket>();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '/', headers } = request;
    const onward = sendSecurely(new URL(url, target), { method, headers, agent });
    response.once('close', () => onward.destroy());
    request.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
    await pipeline(answer, response);
  };
  const server = createSecureServer({ cert, key }, (request, response) => {
    // Both ends report a broken connection to their users.
    serve(request, response).catch(() => response.destroy());
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Closes all connections, also those in use. */
    closeAll() {
      for (const socket of sockets) socket.destroy();
    },
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
}
