import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { ConfigError } from './config-error.ts';
import { listenHttp, serveUntilStopped } from './http-server.ts';
import { createLogger } from './logger.ts';

test('a taken port is a configuration problem that names the port (H1)', async () => {
  const first = await listenHttp(() => undefined, { port: 0, host: '127.0.0.1' });
  const second = listenHttp(() => undefined, { port: first.port, host: '127.0.0.1' });
  await expect(second).rejects.toThrow(ConfigError);
  await expect(second).rejects.toThrow(
    `It is not possible to listen on port ${first.port} of 127.0.0.1: listen EADDRINUSE`,
  );
  await first.close();
});

test('without a host it listens on all addresses, IPv6 too where the machine has it (H1)', async () => {
  const http = await listenHttp((_request, response) => response.end('up'), {
    port: 0,
    host: undefined,
  });
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  const loopbacks = own.filter(({ internal }) => internal);
  expect(loopbacks).not.toEqual([]);
  for (const { address, family } of loopbacks) {
    const host = family === 'IPv6' ? `[${address}]` : address;
    expect(await (await fetch(`http://${host}:${http.port}/`)).text()).toBe('up');
  }
  await http.close();
});

test('ends slow requests, and keeps the spare connections of browsers and proxies (H1)', async () => {
  const place = { port: 0, host: '127.0.0.1' };
  const http = await listenHttp((_request, response) => response.end('up'), place);
  http.server.headersTimeout = 100;
  const open = async () => {
    const socket = connect({ ...place, port: http.port });
    await once(socket, 'connect');
    return socket;
  };
  const [spare, later, slow] = [await open(), await open(), await open()];
  slow.write('GET / HTTP/1.1\r\n');
  // The others are older.
  expect(await text(slow)).toMatch(/^HTTP\/1.1 408 /);
  spare.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  expect(await text(spare)).toMatch(/^HTTP\/1.1 200 /);
  later.write('GET / HTTP/1.1\r\n');
  expect(await text(later)).toMatch(/^HTTP\/1.1 408 /);

  const idle = await open();
  http.server.keepAliveTimeout = 1;
  expect(await text(idle)).toBe('');
  http.server.keepAliveTimeout = 60_000;
  const unused = await open();
  await http.close();
  expect(await text(unused)).toBe('');
});

describe('a service that stops (A10, H2)', () => {
  const place = { port: 0, host: '127.0.0.1' };
  const start = async () => {
    const stop = new AbortController();
    const http = await listenHttp((request, response) => {
      if (stop.signal.aborted) response.setHeader('connection', 'close');
      response.end(`your port is ${request.socket.remotePort}`);
    }, place);
    const log = createLogger('test', 'error');
    const health = await listenHttp((_request, response) => response.end('up'), place);
    const stopped = serveUntilStopped(http, log, health)(stop.signal);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (): Promise<string> => {
      const answering = Promise.withResolvers<IncomingMessage>();
      get({ ...place, port: http.port, agent }, answering.resolve).on('error', answering.reject);
      return text(await answering.promise);
    };
    return { stop, stopped, ask };
  };

  test('answers what comes on a connection that is open, and ends with it', async () => {
    const { stop, stopped, ask } = await start();
    const first = await ask();
    stop.abort();
    // Not in the same turn, in which everything that closes at once has begun to.
    await new Promise(setImmediate);
    expect(await ask()).toBe(first);
    await stopped;
  });

  test('ends although a caller keeps its connection', async () => {
    const { stop, stopped, ask } = await start();
    expect(await ask()).toContain('your port');
    stop.abort();
    await stopped;
    await expect(ask()).rejects.toThrow(/ECONNREFUSED|hang up/);
  });
});
