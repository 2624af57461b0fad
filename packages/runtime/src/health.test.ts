import { expect, test } from '@jest/globals';
import { createHealthApp } from './health.ts';
import { listenHttp } from './http-server.ts';
import { createMetrics } from './metrics.ts';

test('/healthz answers 200, /readyz the reason for not being ready, /metrics the metrics (H1)', async () => {
  let reason: string | undefined = 'the database is away';
  const metrics = createMetrics();
  metrics.counter('paddock_test_total', 'Tests', ['kind']).inc({ kind: 'a' });
  const server = await listenHttp(
    createHealthApp({ registry: metrics.registry, whyNotReady: () => Promise.resolve(reason) }),
    {
      port: 0,
      host: '127.0.0.1',
    },
  );
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, body: await response.text() };
  };
  expect(await get('/healthz')).toEqual({ status: 200, body: 'ok\n' });
  expect(await get('/readyz')).toEqual({ status: 503, body: 'the database is away\n' });
  reason = undefined;
  expect(await get('/readyz')).toEqual({ status: 200, body: 'ready\n' });
  expect((await get('/metrics')).body).toContain('paddock_test_total{kind="a"} 1');
  expect(await get('/elsewhere')).toEqual({ status: 404, body: 'There is nothing here.\n' });
  await server.close();
});
