import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApp } from '@paddock/runtime/express-app';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { readBody } from './read-body.ts';

let http: HttpServer;
beforeAll(async () => {
  const app = createApp();
  app.use(async (request, response) => {
    const body = await readBody(request, response);
    response.status('reply' in body ? body.reply.status : 200).end();
  });
  http = await listenHttp(app, { port: 0, host: '127.0.0.1' });
});
afterAll(() => http.close());

test('a body that is too large is read to its end, and what comes after it is answered (F)', async () => {
  const socket = connect(http.port, '127.0.0.1');
  const send = (body: string, more = '') =>
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${more}Content-Type: application/json\r\n\r\n${body}`,
    );
  send('x'.repeat(5_000_000));
  send('{}', 'Connection: close\r\n');
  expect((await text(socket)).match(/(?<=^HTTP\/1.1 )\d+/gmu)).toEqual(['413', '200']);
});
