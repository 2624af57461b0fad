import { createServer, type RequestListener, request as forward, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { generate } from 'selfsigned';

interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** A certificate of 127.0.0.1, and of no name, that is its own authority. */
export const makeCertificate = async (): Promise<{
  readonly key: string;
  readonly cert: string;
}> => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'a test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  return { key, cert };
};

/**
 * A server for TLS on loopback with an unknown certificate; `ca` is the one to trust. `renew` gives
 * it another.
 */
export async function startSecureServer(
  listener: RequestListener,
): Promise<Listening & { readonly ca: string; renew(): Promise<string> }> {
  const { key, cert } = await makeCertificate();
  const server = createSecureServer({ key, cert }, listener);
  const port = await listenOnLoopback(server);
  const renew = async () => {
    const next = await makeCertificate();
    server.setSecureContext(next);
    server.closeAllConnections();
    return next.cert;
  };
  return { url: `https://127.0.0.1:${port}`, ca: cert, renew, close: async () => closeAll(server) };
}

/** A listener that passes requests below a path on to a server. */
export function passOn(path: string, url: string): RequestListener {
  return (request, response) => {
    const { method, headers } = request;
    const outgoing = forward(
      `${url}${(request.url ?? '').replace(path, '')}`,
      { method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => response.writeHead(502).end());
    request.pipe(outgoing);
  };
}

/** A proxy that opens tunnels (CONNECT), and remembers where to. */
export async function startProxy(): Promise<Listening & { readonly targets: readonly string[] }> {
  const targets: string[] = [];
  // Once it is a tunnel, the server does not count a connection among its own.
  const open = new Set<Duplex>();
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connect', (request, socket, head) => {
    targets.push(request.url ?? '');
    const { hostname, port } = new URL(`http://${request.url ?? ''}`);
    open.add(socket);
    const tunnel = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      tunnel.write(head);
      tunnel.pipe(socket).pipe(tunnel);
    });
    // Either side may go first, and takes the other with it.
    tunnel.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => tunnel.destroy()).on('close', () => tunnel.destroy());
  });
  const port = await listenOnLoopback(server);
  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    await closeAll(server);
  };
  return { url: `http://127.0.0.1:${port}`, targets, close };
}

async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return (server.address() as AddressInfo).port;
}

async function closeAll(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
