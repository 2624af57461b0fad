import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';

/** Calls that are answered with a 500 in HTML, before or after the API server has executed them. */
interface Failure {
  readonly method: string;
  readonly path: RegExp;
  times: number;
  readonly isDone: boolean;
}

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
  let failing: Failure | undefined;

  const takeFailure = ({ method, url = '' }: IncomingMessage): Failure | undefined => {
    if (failing === undefined || failing.times === 0) return undefined;
    if (method !== failing.method || !failing.path.test(url)) return undefined;
    failing.times -= 1;
    return failing;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const failure = takeFailure(request);
    if (failure?.isDone === false) return refuse(response);
    const { method, url = '/', headers } = request;
    const onward = send(new URL(url, target), { method, headers, agent });
    response.once('close', () => onward.destroy());
    request.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    if (failure !== undefined) return refuse(response);
    response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
    await pipeline(answer, response);
  };
  const server = createServer({ cert, key }, (request, response) => {
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
    closeAll(): void {
      for (const socket of sockets) socket.destroy();
    },
    fail: (calls: Failure): void => void (failing = calls),
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
}

const refuse = (response: ServerResponse): void =>
  void response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Sorry</h1>');
