import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '@paddock/db/migrate';
import { connectDatabase, type DatabaseConnection } from '@paddock/db/connection/connect';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { createEmptyDatabase } from '@paddock/testing/database';
import { startTunnel } from '@paddock/testing/tunnel';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import {
  CONFIG,
  GITHUBS_PATIENCE_MS,
  type Ingress,
  createIngressDatabase,
  putPoolsOf,
  useIngresses,
} from './scenes/ingress.scene.ts';

/** It is said in a sentence that no delivery can be taken, and that the process is well. */
const expectUnready = async (ingress: Ingress, sentence: string) => {
  await waitFor(`the sentence "${sentence}"`, async () => {
    const { status, text } = await ingress.ask('/readyz');
    return status === 503 && text.includes(sentence);
  });
  expect(await ingress.ask('/healthz')).toEqual({ status: 200, text: 'ok' });
};

/** Without a restart or any other help. */
const expectRecovered = async (ingress: Ingress, jobId: number) => {
  await waitFor('an accepted delivery', async () => (await ingress.queue(jobId)).status === 200);
  await ingress.untilReady();
};

/** Every answer here comes within the 10 s that GitHub waits, or its request fails. */
describe('ingress while PostgreSQL fails', () => {
  const database = useTestDatabase(createIngressDatabase);
  const startOne = useIngresses(database);

  /** With the settings' default time limits, for calls that are never answered. */
  const startHasty = (url = database.url) =>
    startOne({ url, rules: {}, patienceMs: GITHUBS_PATIENCE_MS });
  const start = (url = database.url) => startOne({ url, patienceMs: GITHUBS_PATIENCE_MS });
  const jobIds = async () =>
    (await database.db.selectFrom('jobs').select('job_id').orderBy('job_id').execute()).map(
      (row) => row.job_id,
    );

  const refused = {
    status: 503,
    text: 'The delivery could not be stored: send it again later.',
    retryAfter: '10',
  };
  const stored = { status: 200, text: 'job_stored' };

  test('gone: 503, also at the start; both times it recovers by itself (B5, H1)', async () => {
    const tunnel = await startTunnel(database.url);
    await tunnel.cut();
    const ingress = await start(tunnel.url);
    await expectUnready(ingress, 'PostgreSQL cannot be asked: connect ECONNREFUSED');
    expect(await ingress.queue(900)).toEqual(refused);
    await tunnel.mend();
    await ingress.untilReady();
    expect(await ingress.queue(901)).toMatchObject(stored);
    await tunnel.cut();
    expect(await Promise.all([902, 903, 904].map((id) => ingress.queue(id)))).toEqual([
      refused,
      refused,
      refused,
    ]);
    await expectUnready(ingress, 'PostgreSQL cannot be asked');
    await tunnel.mend();
    await expectRecovered(ingress, 905);
    expect(await jobIds()).toEqual([901, 905]);
    await tunnel.cut();
  });

  test('silent: metrics are shown all the same, without the gauges that are read from rows (H5)', async () => {
    const tunnel = await startTunnel(database.url);
    const ingress = await startHasty(tunnel.url);
    await ingress.untilReady();
    const scrape = async () => (await ingress.ask('/metrics')).text;
    const shared = '\npaddock_migration_needed 0';
    await waitFor('them to be there', async () => (await scrape()).includes(shared));
    tunnel.setSilent(true);
    await waitFor('them to be absent', async () => !(await scrape()).includes(shared));
    expect(await scrape()).toContain('\npaddock_held_bytes 0\n');
    await tunnel.cut();
  });

  test('a host that accepts and never answers: 503 in time, also for waiting deliveries, and ready as soon as it answers (B5)', async () => {
    const tunnel = await startTunnel(database.url);
    tunnel.setSilent(true);
    const ingress = await startHasty(tunnel.url);
    expect(await ingress.queue(900)).toEqual(refused);
    await expectUnready(ingress, 'PostgreSQL cannot be asked');
    tunnel.setSilent(false);
    await expectRecovered(ingress, 901);
    tunnel.setSilent(true);
    const answers = Array.from({ length: 12 }, (_, index) => ingress.queue(902 + index));
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(
      new Set([503]),
    );
    await expectUnready(ingress, 'PostgreSQL cannot be asked');
    await waitFor(
      'a cut',
      async () => (await ingress.metric('paddock_events_total{event="connectionsCut"}')) > 0,
    );
    tunnel.setSilent(false);
    await expectRecovered(ingress, 950);
    expect(await jobIds()).toEqual([901, 950]);
    await waitFor('nothing held', async () => (await ingress.metric('paddock_held_bytes')) === 0);
    await tunnel.cut();
  });

  test('slow, as with a locked table: 503 and a sentence, and stored once it is free (B5)', async () => {
    const ingress = await startHasty();
    await ingress.untilReady();
    const cancelled =
      'the newest deliveries could not be written and were refused with 503: canceling statement';
    await database.db.transaction().execute(async (trx) => {
      await sql`lock table installation_events in exclusive mode`.execute(trx);
      // On a busy machine another of its limits may come first, which says less.
      await waitFor('a write that PostgreSQL has ended', async () => {
        expect(await ingress.queue(900)).toEqual(refused);
        await waitFor(
          'its end',
          async () => (await ingress.metric('paddock_requests_in_flight')) === 0,
        );
        return (await ingress.ask('/readyz')).text.includes(cancelled);
      });
      expect(await ingress.metric('paddock_events_total{event="batchFailed"}')).toBeGreaterThan(0);
      await expectUnready(ingress, cancelled);
    });
    expect(await jobIds()).toEqual([]);
    await expectRecovered(ingress, 900);
    expect(await jobIds()).toEqual([900]);
  });

  describe('PostgreSQL gives its login few connections (A11, B5)', () => {
    const url = new URL('postgresql://few');
    beforeAll(async () => {
      url.href = database.url;
      url.username = `${url.pathname.slice(1)}_few`;
      await sql`create role ${sql.id(url.username)} login password ${sql.lit(url.password)} in role paddock_ingress`.execute(
        database.db,
      );
    });
    afterAll(() => sql`drop role ${sql.id(url.username)}`.execute(database.db));
    const allow = (most: number) =>
      sql`alter role ${sql.id(url.username)} connection limit ${sql.lit(most)}`.execute(
        database.db,
      );

    test('two: it stores 60 deliveries at once, stays ready, and says that they are few', async () => {
      await allow(2);
      const ingress = await start(url.href);
      await ingress.untilReady();
      expect(await ingress.queue(900)).toMatchObject(stored);
      const burst = Array.from({ length: 60 }, (_, index) => ingress.queue(901 + index));
      const answers = (await Promise.all(burst)).map(({ text }) => text);
      expect(new Set(answers)).toEqual(new Set([stored.text]));
      const { status, text } = await ingress.ask('/readyz');
      expect([status, text]).toEqual([200, expect.stringMatching(/^ready; .* 2 connections, and/)]);
      const cuts = await ingress.metric('paddock_events_total{event="connectionsCut"}');
      expect(cuts).toBe(0);
    });

    test('none: 503 with the reason, until there are some', async () => {
      await allow(0);
      const ingress = await startHasty(url.href);
      expect(await ingress.queue(900)).toEqual(refused);
      await expectUnready(ingress, 'PostgreSQL cannot be asked: too many connections for role');
      await allow(2);
      await expectRecovered(ingress, 901);
    });
  });

  describe('PostgreSQL lacks something, and its sessions go on (A11, B5)', () => {
    let server: Postgres;
    let own: DatabaseConnection;
    beforeAll(async () => {
      server = await startPostgres({ settings: { max_locks_per_transaction: '10' } });
      const place = { url: server.url(), schema: 'paddock' };
      await migrate(place);
      own = connectDatabase({ ...place, poolSize: 1, applicationName: 'test' });
      await putPoolsOf(own, CONFIG);
    });
    afterAll(async () => {
      await own.close();
      await server.stop();
    });

    test.each([
      {
        lack: 'out of shared memory',
        begin:
          'do $$ begin loop perform pg_advisory_lock((random() * 1e9)::int); end loop; exception when out_of_memory then end $$',
        end: 'select pg_advisory_unlock_all()',
        code: '53200',
      },
      // In the words of a server whose disk is full, of one at a limit of its configuration, and of
      // one that has got another password.
      ...[
        ['53100', 'could not extend file: No space left on device'],
        ['53400', 'out of file descriptors'],
        ['28P01', 'password authentication failed'],
      ].map(([code = '', lack = '']) => ({
        lack,
        begin: `create function lack() returns trigger language plpgsql as $$ begin
          raise '${lack}' using errcode = '${code}'; end $$;
          create trigger lack before insert on installation_events execute function lack()`,
        end: 'drop function lack cascade',
        code,
      })),
    ])(
      '$code, $lack: 503 with the reason, which is logged once and is no outage, and stored once it has it',
      async ({ lack, begin, end, code }) => {
        const jobId = Number.parseInt(code, 36);
        const ingress = await startOne({ url: server.url(), schema: 'paddock' });
        await ingress.untilReady();
        await own.db.connection().execute(async (session) => {
          await sql.raw(begin).execute(session);
          for (const id of [jobId, jobId, jobId + 1])
            expect(await ingress.queue(id)).toEqual(refused);
          await expectUnready(ingress, lack);
          await sql.raw(end).execute(session);
        });
        await expectRecovered(ingress, jobId);
        expect(await ingress.queue(jobId + 1)).toMatchObject(stored);
        const lines = ingress.lines().map((line) => JSON.parse(line) as Record<string, unknown>);
        const errors = lines.filter(({ error }) => error !== undefined);
        expect(errors).toMatchObject([
          { message: 'a batch of deliveries failed', error: { code } },
          { message: 'delivery refused', error: { code } },
        ]);
        expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
      },
    );
  });

  const limited = spawnSync('prlimit').status === 0 ? describe : describe.skip;
  limited('no file handle is left (A11, B5; needs prlimit)', () => {
    test('connections are closed, it is no outage, and all is stored once there are some', async () => {
      const ingress = await start();
      await ingress.untilReady();
      const allow = (most: number) =>
        spawnSync('prlimit', [`--pid=${ingress.pid}`, `--nofile=${most}:`]);
      allow(readdirSync(`/proc/${ingress.pid}/fd`).length + 4);
      const ids = Array.from({ length: 40 }, (_, nth) => 900 + nth);
      const answers = await Promise.allSettled(ids.map((id) => ingress.queue(id)));
      expect(answers.filter(({ status }) => status === 'rejected')).not.toEqual([]);
      allow(4_096);
      for (const id of ids) expect(await ingress.queue(id)).toMatchObject({ status: 200 });
      expect(await jobIds()).toEqual(ids);
      expect(ingress.lines().join('\n')).not.toContain('"level":"error"');
    });
  });

  test('without our tables: not ready, with the remedy, logged once (A10)', async () => {
    const empty = await createEmptyDatabase();
    const ingress = await start(empty.url);
    await expectUnready(ingress, 'the migration has not run on this database');
    expect(await ingress.queue(900)).toEqual(refused);
    expect(await ingress.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(ingress.lines().filter((line) => line.includes('"message":"not ready"'))).toHaveLength(
      1,
    );
    expect(ingress.lines().join('\n')).not.toContain('pools document could not be read');
    await empty.drop();
  });
});
