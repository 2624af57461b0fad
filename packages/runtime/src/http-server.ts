import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import express, { type Express } from 'express';
import { ConfigError } from './config-error.ts';
import type { Logger } from './logger.ts';
import type { Service } from './run.ts';

/**
 * An express app that says nothing of itself, and takes a path as it is: with its case, and with
 * its slash at the end.
 */
export function createApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Else an error that no handler took shows its stack to the caller.
  app.set('env', 'production');
  return app;
}

export interface HttpServer {
  readonly server: Server;
  readonly port: number;
  /**
   * Stops accepting, lets open requests finish, and resolves when the last connection is closed.
   */
  close(): Promise<void>;
}

/** Stands for an address that is no path. No route leads there. */
const NOWHERE = '/*';

/**
 * Listens; port 0 picks a free one. Without a host it listens on all addresses, of IPv6 too where the
 * machine has it. Rejects with a ConfigError if the port is taken or this machine does not have the
 * address.
 */
export async function listenHttp(
  handler: RequestListener,
  { port, host }: { port: number; host: string | undefined },
): Promise<HttpServer> {
  // Node checks only twice a minute for requests that take too long to arrive.
  const server = createServer({ connectionsCheckingInterval: 1_000 }, (request, response) => {
    // Express cannot read some addresses in full, as `http://[/`, and would answer them by itself.
    if (request.url?.startsWith('/') !== true) request.url = NOWHERE;
    handler(request, response);
  });
  // Longer than load balancers keep idle connections (60 s). Else we might close one just as the
  // load balancer sends the next request on it.
  server.keepAliveTimeout = 65_000;
  const endSpareConnections = keepSpareConnections(server);
  await new Promise<void>((listening, failed) => {
    const refused = (error: Error) =>
      failed(
        new ConfigError([
          `It is not possible to listen on port ${port} of ${host ?? 'all addresses'}: ${error.message}`,
        ]),
      );
    server.once('error', refused);
    server.listen(port, host, () => {
      server.off('error', refused);
      listening();
    });
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((closed, failed) => {
        server.close((error) => (error ? failed(error) : closed()));
        server.closeIdleConnections();
        endSpareConnections();
      }),
  };
}

/**
 * Browsers and proxies open connections to spare. Node takes one on which nothing has come yet for a
 * slow request, and answers 408 also to a request that comes at that moment. So it is kept as long as
 * an idle one. Returns what ends them, as Node does only with those that have had a request.
 */
function keepSpareConnections(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const emit = server.emit.bind(server) as (...event: unknown[]) => boolean;
  server.emit = (...event: unknown[]): boolean => {
    const [name, error, socket] = event as [string, { code?: string }?, Socket?];
    const isTooSlow = name === 'clientError' && error?.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    // Where no listener has this event, Node answers and closes.
    if (!isTooSlow || socket?.bytesRead !== 0) return emit(...event);
    socket.setTimeout(server.keepAliveTimeout);
    return true;
  };
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

/**
 * So long a stopping service goes on answering on connections that are open. The answers close
 * them. To close one just as its next request arrives would lose that request.
 */
const LINGER_MS = 2_000;
const LOOK_MS = 50;

/**
 * The server as a part of a service. It logs that it listens once signals are handled, and closes
 * when the service stops. Health and metrics may have another server, which answers until this
 * one's last request has its answer.
 */
export function serveUntilStopped(
  http: HttpServer,
  log: Logger,
  health: HttpServer = http,
): Service {
  return async (signal) => {
    log.info('listening', { port: http.port, healthPort: health.port });
    if (!signal.aborted) await once(signal, 'abort');
    if (health !== http) await untilForsaken(http.server);
    await http.close();
    if (health !== http) await health.close();
  };
}

/** Resolves once no connection is open, or after `LINGER_MS`. */
async function untilForsaken(server: Server): Promise<void> {
  const count = promisify(server.getConnections.bind(server));
  const end = performance.now() + LINGER_MS;
  while (performance.now() < end && (await count()) > 0) await sleep(LOOK_MS);
}
