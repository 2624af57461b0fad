import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApp } from '@paddock/runtime/express-app';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { listAt } from './list-at.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let http: HttpServer;
beforeAll(async () => {
  const app = createApp();
  app.use((request, response) => void response.json(listAt(request) ?? null));
  http = await listenHttp(app, { port: 0, host: '127.0.0.1' });
});
afterAll(() => http.close());

const listOf = async (path: string, accept = '*/*'): Promise<unknown> =>
  (await fetch(`http://127.0.0.1:${http.port}${path}`, { headers: { accept } })).json();

test.each([
  ['*/*', null],
  [BROWSER, null],
  ['text/html, application/json', null],
  ['application/json;q=0.5, text/html', null],
  ['application/json;q=0', null],
  ['text/plain', null],
  ['application/json', '/api/v1/jobs?pool=a'],
  ['application/json, text/plain, */*', '/api/v1/jobs?pool=a'],
  ['APPLICATION/JSON; q=0.9', '/api/v1/jobs?pool=a'],
  ['text/html;q=0.5, application/json', '/api/v1/jobs?pool=a'],
])('a view that is asked for with Accept %s leads to %s (G1)', async (accept, list) => {
  expect(await listOf('/jobs?pool=a', accept)).toBe(list);
});

test.each([
  ['/.json', '/pools'],
  ['/jobs.json', '/jobs'],
  ['/jobs/7.json?a=b', '/jobs/7?a=b'],
  ['/runs/7.json?owner=acme', '/runs/7/why?owner=acme'],
  ['/installations.json', '/installations'],
])('%s leads to %s of the API', async (path, list) => {
  expect(await listOf(path, BROWSER)).toBe(`/api/v1${list}`);
  expect(await listOf(path.replace('.json', ''), 'application/json')).toBe(`/api/v1${list}`);
});
