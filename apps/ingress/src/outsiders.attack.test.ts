import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestDatabase } from '@paddock/testing/database';
import { waitFor } from '@paddock/testing/wait-for';
import {
  createIngressDatabase,
  type Ingress,
  jobDelivery,
  PATIENT,
  startIngress,
} from './scenes/ingress.scene.ts';
import { exchangeRaw } from './scenes/raw-request.scene.ts';

/** A database that does not exist, with names that no outsider should read. */
const AWAY = 'postgresql://paddock_prod:hunter2@127.0.0.1:1/pg_prod';
const TELLING =
  /paddock|hunter2|pg_prod|127\.0\.0\.1|postgres|node|express|ECONN|ready|version|npm|\/root|\.ts/i;

const line = (method: string, path: string) =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`;
const GUESS = `x-github-event: ping\r\nx-github-delivery: d\r\nx-hub-signature-256: sha256=${'0'.repeat(64)}\r\n`;

/** The requests of a curious outsider. */
const REQUESTS: Readonly<Record<string, readonly [request: string, statuses: readonly number[]]>> =
  {
    'the page of readiness': [line('GET', '/readyz'), [404]],
    'the page of health': [line('GET', '/healthz'), [404]],
    'the metrics': [line('GET', '/metrics'), [404]],
    'readiness with POST': [`${line('POST', '/readyz')}content-length: 0\r\n`, [404]],
    'the webhook with GET': [line('GET', '/webhooks/github'), [405]],
    'the webhook with OPTIONS': [line('OPTIONS', '/webhooks/github'), [405]],
    'all paths': [line('OPTIONS', '*'), [404]],
    'a trailing slash': [`${line('POST', '/webhooks/github/')}content-length: 0\r\n`, [404]],
    'a path around': [
      `${line('POST', '/webhooks/github/../../readyz')}content-length: 0\r\n`,
      [404],
    ],
    'another case': [`${line('POST', '/Webhooks/GitHub')}content-length: 0\r\n`, [404]],
    'no signature': [`${line('POST', '/webhooks/github')}content-length: 0\r\n`, [400]],
    'a guessed signature': [
      `${line('POST', '/webhooks/github')}${GUESS}content-length: 0\r\n`,
      [401],
    ],
    'an address that is none': [
      `${line('POST', 'http://[/webhooks/github')}content-length: 0\r\n`,
      [404],
    ],
    'an address in full': [line('GET', 'http://x/webhooks/github'), [404]],
    'a path that cannot be decoded': [line('GET', '/%E0%A4%A'), [404]],
    'no HTTP': ['hello', [400]],
    'a header that ends the other': [
      `${line('GET', '/readyz')}x-forwarded-host: a\r\ncontent-length: -1\r\n`,
      [400],
    ],
  };

const answerOf = async (ingress: Ingress, request: string) => {
  const answer = await exchangeRaw(ingress.port ?? 0, [Buffer.from(`${request}\r\n`)], 'wait');
  return answer.replace(/^Date: .*\r\n/m, '');
};

describe('an outsider at the webhook’s port', () => {
  let database: TestDatabase;
  let ready: Ingress;
  let away: Ingress;

  beforeAll(async () => {
    database = await createIngressDatabase();
    ready = await startIngress({ url: database.url, schema: database.schema, rules: PATIENT });
    away = await startIngress({ url: AWAY, schema: 'paddock_prod', rules: PATIENT });
    await ready.untilReady();
    await waitFor(
      'the reason on the inner port',
      async () => (await away.ask('/readyz')).status === 503,
    );
  });
  afterAll(async () => {
    await ready.end('SIGTERM');
    await away.end('SIGTERM');
    await database.drop();
  });

  test.each(Object.entries(REQUESTS))(
    'learns nothing of its state, its database or its make: %s (B1, H1)',
    async (_what, [request, statuses]) => {
      const answer = await answerOf(ready, request);
      expect(
        [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)),
      ).toEqual(statuses);
      expect(answer).not.toMatch(TELLING);
      expect(answer).not.toMatch(/^(server|via|x-powered-by|etag):/im);
      // The same, whether deliveries can be stored or not.
      expect(await answerOf(away, request)).toBe(answer);
    },
  );

  test('with a delivery of GitHub’s learns that it cannot be stored now, and not why; the inner port and the log say it (B5, H1)', async () => {
    expect(await away.deliver(await jobDelivery('queued', 900))).toMatchObject({
      status: 503,
      text: 'The delivery could not be stored: send it again later.',
    });
    expect(await away.ask('/readyz')).toMatchObject({
      status: 503,
      text: expect.stringContaining('127.0.0.1:1'),
    });
    await waitFor('the line of the log', () =>
      away
        .lines()
        .some((said) => said.includes('"message":"not ready"') && said.includes('127.0.0.1:1')),
    );
    expect(away.lines().join('\n')).not.toContain('hunter2');
  });

  test('writes only a few lines to the log, and makes no metrics’ labels, for any number of requests (H1, P6)', async () => {
    const before = ready.lines().length;
    const series = async () =>
      (await ready.ask('/metrics')).text.match(/^paddock_\S+/gm)?.toSorted() ?? [];
    const send = (nth: number) =>
      fetch(`${ready.base}/webhooks/github`, {
        method: 'POST',
        body: '{}',
        headers: {
          'x-github-event': `made_up_${nth}`,
          'x-github-delivery': `guid-${nth}`,
          'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
          'x-github-hook-installation-target-id': String(nth),
        },
      });
    expect((await send(0)).status).toBe(401);
    const known = await series();
    const answers = await Promise.all(Array.from({ length: 300 }, (_, nth) => send(nth)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(
      await ready.metric('paddock_deliveries_refused_total{reason="bad_signature"'),
    ).toBeGreaterThanOrEqual(301);
    expect(await series()).toEqual(known);
    // One for the App that is configured, one for those that are not.
    const lines = ready.lines().slice(before);
    expect(lines.filter((said) => said.includes('bad_signature')).length).toBeLessThanOrEqual(2);
  });
});
