import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { TestDatabase } from '@paddock/testing/database';
import type { SignedDelivery } from '@paddock/testing/signed-delivery';
import { sql } from 'kysely';
import {
  createIngressDatabase,
  type Ingress,
  jobDelivery,
  PATIENT,
  signed,
  startIngress,
} from './scenes/ingress.scene.ts';

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
  let database: TestDatabase;
  let ingresses: Ingress[];

  beforeAll(async () => {
    database = await createIngressDatabase();
    ingresses = await Promise.all([start(), start()]);
    await Promise.all(ingresses.map((ingress) => ingress.untilReady()));
  });
  afterAll(async () => {
    for (const ingress of ingresses) await ingress.end('SIGTERM');
    await database.drop();
  });
  beforeEach(async () => {
    await database.db.deleteFrom('jobs').execute();
    await sql`truncate installation_events`.execute(database.db);
  });

  const start = () => startIngress({ url: database.url, schema: database.schema, rules: PATIENT });
  const replica = (nth: number): Ingress => {
    const ingress = ingresses[nth % ingresses.length];
    if (ingress === undefined) throw new Error('There is no replica.');
    return ingress;
  };
  const events = () =>
    database.db
      .selectFrom('installation_events')
      .select(['event', 'outcome', 'delivery_guid'])
      .orderBy('id')
      .execute();
  const bytes = async () => {
    const { rows } = await sql<{ bytes: number }>`
      select pg_relation_size('installation_events') + pg_relation_size('jobs') as bytes`.execute(
      database.db,
    );
    return Number(rows[0]?.bytes);
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
      expect(await replica(0).deliver(captured)).toMatchObject({ status: 200 });
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

  test('with its own GUID leaves a few rows, and each is answered with 200, as GitHub’s own repetition is (A4)', async () => {
    const captured = await jobDelivery('queued', 902);
    expect(await replica(0).deliver(captured)).toMatchObject({ text: 'job_stored' });
    expect(await replica(0).deliver(captured)).toMatchObject({
      status: 200,
      text: 'job_already_exists',
    });
    await flood(() => captured);
    expect((await events()).length).toBeLessThanOrEqual(MOST_ROWS);
    expect(await replica(1).deliver(captured)).toMatchObject({ status: 200 });
  });

  test('is known after a restart too (A4)', async () => {
    const captured = await jobDelivery('queued', 903);
    await replica(0).deliver(captured);
    const another = await start();
    await another.untilReady();
    expect(await another.deliver(replayed(captured))).toMatchObject({
      status: 200,
      text: 'repeated_body',
    });
    await another.end('SIGTERM');
  });

  test('as another event is refused with a clear text, and nothing is kept under a wrong name (B3)', async () => {
    const captured = await jobDelivery('queued', 904);
    for (const event of [
      'installation',
      'installation_repositories',
      'installation_target',
      'ping',
      'made_up_event',
      'auth_attempt',
    ]) {
      expect(
        await replica(0).deliver(replayed(captured, { 'x-github-event': event })),
      ).toMatchObject({
        status: 400,
        text: `The delivery cannot be used: it is called ${event}, but the body is a workflow_job payload.`,
      });
    }
    expect(await events()).toEqual([]);
  });

  test('under the GUID of another delivery does not keep that one from being stored (E1)', async () => {
    const captured = await signed('star', { action: 'created', zen: randomUUID() });
    const lost = await jobDelivery('queued', 905);
    const guid = lost.headers['x-github-delivery'] ?? '';
    await replica(0).deliver(replayed(captured, { 'x-github-delivery': guid }));
    expect(await replica(0).deliver(lost)).toMatchObject({ status: 200, text: 'job_stored' });
    expect((await events()).map((event) => event.delivery_guid)).toEqual([guid, guid]);
  });

  test('after its job’s row was retired is no demand before GitHub was asked (E7)', async () => {
    const captured = await jobDelivery('queued', 906, {
      created_at: '2021-09-13T02:21:13Z',
      started_at: '2021-09-13T02:21:13Z',
    });
    expect(await replica(0).deliver(captured)).toMatchObject({ status: 200 });
    const asked = await database.db
      .selectFrom('jobs')
      .select(['wants_worker', 'lookup_due_at'])
      .execute();
    expect(asked).toEqual([{ wants_worker: false, lookup_due_at: expect.any(Date) }]);
  });
});
