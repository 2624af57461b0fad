import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';

/** An HTTP server for the tests of a file, or of a `describe`. */
export function useHttpServer(answer: RequestListener) {
  const server = createServer(answer);
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });
  return {
    server,
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
  };
}
