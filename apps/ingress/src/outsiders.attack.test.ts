import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { emptyTables } from '@paddock/testing/use-test-database';
import type { SignedDelivery } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import {
  type Ingress,
  exchangeRaw,
  jobDelivery,
  signed,
  startIngress,
  useIngress,
} from './scenes/ingress.scene.ts';

/** A database that does not exist, with names that no outsider should read. */
const AWAY = 'postgresql://paddock_prod:hunter2@127.0.0.1:1/pg_prod';
const TELLING =
  /paddock|hunter2|pg_prod|127\.0\.0\.1|postgres|node|express|ECONN|ready|version|npm|\/root|\.ts/i;

const line = (method: string, path: string) =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`;
const get = (path: string) => line('GET', path);
const empty = (path: string, headers = '') =>
  `${line('POST', path)}${headers}content-length: 0\r\n`;
const GUESS = `x-github-event: ping\r\nx-github-delivery: d\r\nx-hub-signature-256: sha256=${'0'.repeat(64)}\r\n`;

/** The requests of a curious outsider, and the status that each gets. */
const REQUESTS: readonly (readonly [what: string, request: string, status: number])[] = [
  ['the page of readiness', get('/readyz'), 404],
  ['the metrics', get('/metrics'), 404],
  ['readiness with POST', empty('/readyz'), 404],
  ['what a load balancer asks', get('/'), 200],
  ['the webhook with GET', get('/webhooks/github'), 405],
  ['the webhook with OPTIONS', line('OPTIONS', '/webhooks/github'), 405],
  ['all paths', line('OPTIONS', '*'), 404],
  ['a trailing slash', empty('/webhooks/github/'), 404],
  ['a path around', empty('/webhooks/github/../../readyz'), 404],
  ['another case', empty('/Webhooks/GitHub'), 404],
  ['no signature', empty('/webhooks/github'), 400],
  ['a guessed signature', empty('/webhooks/github', GUESS), 401],
  ['an address that is none', empty('http://[/webhooks/github'), 404],
  ['an address in full', get('http://x/webhooks/github'), 404],
  ['a path that cannot be decoded', get('/%E0%A4%A'), 404],
  ['no HTTP', 'hello', 400],
  [
    'a header that ends the other',
    `${get('/readyz')}x-forwarded-host: a\r\ncontent-length: -1\r\n`,
    400,
  ],
];

const answerOf = async (ingress: Ingress, request: string) => {
  const answer = await exchangeRaw(ingress.port ?? 0, [Buffer.from(`${request}\r\n`)], 'wait');
  return answer.replace(/^Date: .*\r\n/m, '');
};

describe('an outsider at the webhook’s port', () => {
  const { ingress: ready } = useIngress();
  let away: Ingress;

  beforeAll(async () => {
    away = await startIngress({ url: AWAY, schema: 'paddock_prod' });
    const isUnready = async () => (await away.ask('/readyz')).status === 503;
    await waitFor('the reason on the inner port', isUnready);
  });
  afterAll(() => away.end('SIGTERM'));

  test.each(REQUESTS)(
    'learns nothing of its state, its database or its make: %s (B1, H1)',
    async (_what, request, status) => {
      const answer = await answerOf(ready, request);
      expect([...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, of]) => of)).toEqual([
        String(status),
      ]);
      expect(answer).not.toMatch(TELLING);
      expect(answer).not.toMatch(/^(server|via|x-powered-by|etag):/im);
      // The same, whether deliveries can be stored or not.
      expect(await answerOf(away, request)).toBe(answer);
    },
  );

  test('with a delivery of GitHub’s learns that it cannot be stored now, and not why; the inner port and the log say it (B5, H1)', async () => {
    expect(await away.queue(900)).toMatchObject({
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
        .some((said) => /127\.0\.0\.1:1.*"not ready"|"not ready".*127\.0\.0\.1:1/.test(said)),
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

/**
 * An attacker has captured one delivery of GitHub's: its body and its signature. The attacker
 * chooses all other headers.
 */
const replayed = (
  { headers, body }: SignedDelivery,
  changed: Record<string, string> = {},
): SignedDelivery => ({
  headers: { ...headers, 'x-github-delivery': randomUUID(), ...changed },
  body,
});

const REPLAYS = 500;
/**
 * Enough for all writers to be at work. Many more would wait for each other's turn on a busy
 * machine, and GitHub waits for 10 s.
 */
const AT_ONCE = 50;
/**
 * A body leaves 20 rows. None of the eight writers of two replicas sees the rows that others write
 * at the same moment.
 */
const MOST_ROWS = 8 * 20;

describe('one captured delivery, sent again', () => {
  const { database, ingress } = useIngress();
  let second: Ingress;
  beforeAll(async () => {
    second = await startIngress({ ...database });
    await second.untilReady();
  });
  afterAll(() => second.end('SIGTERM'));
  beforeEach(() => emptyTables(database.db, ['jobs', 'installation_events']));

  const replica = (nth: number): Ingress => (nth % 2 === 0 ? ingress : second);
  const events = () =>
    database.db
      .selectFrom('installation_events')
      .select(['event', 'outcome', 'delivery_guid'])
      .orderBy('id')
      .execute();
  const bytes = async () => {
    const size = sql<{ bytes: number }>`
      select pg_relation_size('installation_events') + pg_relation_size('jobs') as bytes`;
    return (await size.execute(database.db)).rows[0]?.bytes ?? 0;
  };
  /** Over both replicas; gives the answers' texts. */
  const flood = async (delivery: () => SignedDelivery) => {
    const answers: Awaited<ReturnType<Ingress['deliver']>>[] = [];
    while (answers.length < REPLAYS)
      answers.push(
        ...(await Promise.all(
          Array.from({ length: AT_ONCE }, (_, nth) => replica(nth).deliver(delivery())),
        )),
      );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    return new Set(answers.map(({ text }) => text));
  };

  test.each([
    ['a job', () => jobDelivery('queued', 900)],
    ['a job that no pool serves', () => jobDelivery('queued', 901, { labels: ['windows'] })],
    ['an event that is not used', () => signed('star', { action: 'created', zen: randomUUID() })],
  ])(
    'with other GUIDs leaves a few rows, and others are stored meanwhile: %s (A4, B5)',
    async (_what, capture) => {
      const captured = await capture();
      expect(await ingress.deliver(captured)).toMatchObject({ status: 200 });
      const others = await Promise.all(
        Array.from({ length: 20 }, (_, nth) => jobDelivery('queued', 1_000 + nth)),
      );

      const [texts, stored] = await Promise.all([
        flood(() => replayed(captured)),
        Promise.all(others.map((other, nth) => replica(nth).deliver(other))),
      ]);
      expect(texts).toEqual(new Set(['repeated_body']));
      expect(stored.map(({ status, text }) => [status, text])).toEqual(
        others.map(() => [200, 'job_stored']),
      );
      expect((await events()).length).toBeLessThanOrEqual(MOST_ROWS + others.length);

      // From here on nothing grows.
      const [rows, before] = [(await events()).length, await bytes()];
      await flood(() => replayed(captured));
      expect(await events()).toHaveLength(rows);
      expect(await bytes()).toBeLessThanOrEqual(before);
    },
  );

  test('with its own GUID leaves a few rows, and is answered with 200, as GitHub’s own repetition is (A4)', async () => {
    const captured = await jobDelivery('queued', 902);
    expect(await ingress.deliver(captured)).toMatchObject({ text: 'job_stored' });
    expect(await ingress.deliver(captured)).toMatchObject({ text: 'job_already_exists' });
    await flood(() => captured);
    expect((await events()).length).toBeLessThanOrEqual(MOST_ROWS);
  });

  test('is known after a restart too (A4)', async () => {
    const captured = await jobDelivery('queued', 903);
    await ingress.deliver(captured);
    const another = await startIngress({ ...database });
    await another.untilReady();
    expect(await another.deliver(replayed(captured))).toMatchObject({
      status: 200,
      text: 'repeated_body',
    });
    await another.end('SIGTERM');
  });

  test('as another event is refused with a clear text, and nothing is kept under a wrong name (B3)', async () => {
    const captured = await jobDelivery('queued', 904);
    for (const event of ['installation', 'installation_target', 'ping', 'made_up_event'])
      expect(await ingress.deliver(replayed(captured, { 'x-github-event': event }))).toMatchObject({
        status: 400,
        text: `The delivery cannot be used: it is called ${event}, but the body is a workflow_job payload.`,
      });
    expect(await events()).toEqual([]);
  });

  test('under the GUID of another delivery does not keep that one from being stored (E1)', async () => {
    const captured = await signed('star', { action: 'created', zen: randomUUID() });
    const lost = await jobDelivery('queued', 905);
    const guid = lost.headers['x-github-delivery'] ?? '';
    await ingress.deliver(replayed(captured, { 'x-github-delivery': guid }));
    expect(await ingress.deliver(lost)).toMatchObject({ status: 200, text: 'job_stored' });
    expect((await events()).map((event) => event.delivery_guid)).toEqual([guid, guid]);
  });

  test('after its job’s row was retired is no demand before GitHub was asked (E7)', async () => {
    const captured = await jobDelivery('queued', 906, {
      created_at: '2021-09-13T02:21:13Z',
      started_at: '2021-09-13T02:21:13Z',
    });
    expect(await ingress.deliver(captured)).toMatchObject({ status: 200 });
    const asked = await database.db
      .selectFrom('jobs')
      .select(['wants_worker', 'lookup_due_at'])
      .execute();
    expect(asked).toEqual([{ wants_worker: false, lookup_due_at: expect.any(Date) }]);
  });
});
