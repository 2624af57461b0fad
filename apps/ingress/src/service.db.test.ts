import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { startService } from '@paddock/testing/processes';
import { examplePayload, post, signedDelivery } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';

const CONFIG = `
github:
  apps: [{ id: 7, webhookSecret: { env: HOOK_SECRET } }]
pools:
  - { name: small, labels: [self-hosted, linux], image: runner:1, namespace: runners }
entities: { '*': {} }
`;
const SECRET = 'It is a secret';

type Service = Awaited<ReturnType<typeof startService>>;

/** A way to PostgreSQL that can be cut, or can swallow everything as a dead host does. */
async function startTunnel(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server: Server = createServer((inbound) => {
    const outbound = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (data) => {
        if (!isSilent) other.write(data);
      });
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const listen = (port: number) => new Promise<void>((listening) => void server.listen(port, '127.0.0.1', listening));
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  const cut = () => {
    const closed = new Promise((done) => void server.close(done));
    for (const socket of sockets) socket.destroy();
    return closed;
  };
  return {
    url: through.href,
    cut,
    mend: () => listen(port),
    setSilent: (silent: boolean) => {
      isSilent = silent;
    },
  };
}

const queued = async (id: number) => {
  const changes = { workflow_job: { id, labels: ['Self-Hosted', 'linux'] }, repository: { private: true } };
  return signedDelivery({ event: 'workflow_job', payload: examplePayload('workflow_job', 'queued', changes), secret: SECRET, appId: 7 });
};

const send = async (base: string, id: number) => {
  const begun = performance.now();
  const answer = await post(`${base}/webhooks/github`, await queued(id));
  const text = (await answer.text()).trim();
  return { status: answer.status, text, retryAfter: answer.headers.get('retry-after'), ms: performance.now() - begun };
};

describe('the ingress as a process', () => {
  let database: TestDatabase;
  let folder: string;
  const started: Service[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = mkdtempSync(join(tmpdir(), 'paddock-ingress-'));
    writeFileSync(join(folder, 'paddock.yaml'), CONFIG);
  });
  afterEach(async () => {
    for (const service of started.splice(0)) {
      service.kill('SIGKILL');
      await service.exited;
    }
    await database.db.deleteFrom('jobs').execute();
    await database.db.deleteFrom('installation_events').execute();
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  const start = async (url: string, settings: Record<string, string> = {}) => {
    const service = await startService({
      app: 'ingress',
      env: {
        DATABASE_URL: url,
        PADDOCK_SCHEMA: database.schema,
        PADDOCK_CONFIG: join(folder, 'paddock.yaml'),
        PADDOCK_INGRESS_HTTP_PORT: '0',
        PADDOCK_HTTP_HOST: '127.0.0.1',
        PADDOCK_WRITE_TIMEOUT_MS: '700',
        PADDOCK_ANSWER_TIMEOUT_MS: '1000',
        HOOK_SECRET: SECRET,
        ...settings,
      },
    });
    started.push(service);
    const base = `http://127.0.0.1:${service.port}`;
    const readiness = async () => {
      const answer = await fetch(`${base}/readyz`);
      return { status: answer.status, text: await answer.text() };
    };
    const untilReady = () => waitFor('readiness', async () => (await readiness()).status === 200);
    return { ...service, base, readiness, untilReady };
  };

  const jobIds = async () => (await database.db.selectFrom('jobs').select('job_id').orderBy('job_id').execute()).map((row) => row.job_id);

  test('stores a queued delivery, answers after the commit, and stops cleanly on SIGTERM (A9, B5, H2)', async () => {
    const ingress = await start(database.url);
    await ingress.untilReady();
    expect(await send(ingress.base, 900)).toMatchObject({ status: 200, text: 'job_stored' });
    const jobs = await database.db.selectFrom('jobs').select(['status', 'wants_worker', 'k8s_pool', 'job_labels']).execute();
    expect(jobs).toEqual([{ status: 'pending', wants_worker: true, k8s_pool: 'small', job_labels: ['linux', 'self-hosted'] }]);
    ingress.kill('SIGTERM');
    expect(await ingress.exited).toEqual({ code: 0, signal: null });
    expect(ingress.lines().join('\n')).not.toContain(SECRET);
  });

  test('deliveries that are under way when it is told to stop are still stored and answered (H2)', async () => {
    const ingress = await start(database.url, { PADDOCK_WRITE_TIMEOUT_MS: '8000', PADDOCK_ANSWER_TIMEOUT_MS: '9000' });
    await ingress.untilReady();
    const { answers } = await database.db.transaction().execute(async (trx) => {
      await sql`lock table jobs in exclusive mode`.execute(trx);
      const sent = [901, 902, 903].map((id) => send(ingress.base, id));
      await waitFor('a waiting writer', async () => {
        const { rows } = await sql`select from pg_locks where not granted`.execute(database.db);
        return rows.length > 0;
      });
      ingress.kill('SIGTERM');
      await waitFor('the beginning of the stop', () => ingress.lines().some((line) => line.includes('stopping')));
      return { answers: sent };
    });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await ingress.exited).toEqual({ code: 0, signal: null });
    expect(await jobIds()).toEqual([901, 902, 903]);
  });

  test('starts while PostgreSQL is away, refuses with 503, becomes ready by itself, and outlives the next outage (B5, H1)', async () => {
    const tunnel = await startTunnel(database.url);
    await tunnel.cut();
    const ingress = await start(tunnel.url);
    expect(await ingress.readiness()).toMatchObject({ status: 503, text: expect.stringContaining('PostgreSQL cannot be asked') });
    expect(await send(ingress.base, 900)).toMatchObject({ status: 503, retryAfter: '10' });
    await tunnel.mend();
    await ingress.untilReady();
    expect(await send(ingress.base, 901)).toMatchObject({ status: 200 });
    await tunnel.cut();
    for (const id of [902, 903, 904]) {
      const answer = await send(ingress.base, id);
      expect(answer).toMatchObject({ status: 503, retryAfter: '10' });
      expect(answer.ms).toBeLessThan(3_000);
    }
    await tunnel.mend();
    await ingress.untilReady();
    expect(await send(ingress.base, 905)).toMatchObject({ status: 200 });
    expect(await jobIds()).toEqual([901, 905]);
    await tunnel.cut();
  });

  test('a database host that swallows everything is noticed, and left as soon as it answers again (B5)', async () => {
    const tunnel = await startTunnel(database.url);
    const ingress = await start(tunnel.url);
    await ingress.untilReady();
    expect(await send(ingress.base, 900)).toMatchObject({ status: 200 });
    tunnel.setSilent(true);
    const answers = await Promise.all([901, 902, 903].map((id) => send(ingress.base, id)));
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, retryAfter: '10' });
      expect(answer.ms).toBeLessThan(4_000);
    }
    tunnel.setSilent(false);
    await waitFor('an accepted delivery', async () => (await send(ingress.base, 904)).status === 200);
    expect(await jobIds()).toEqual([900, 904]);
    await tunnel.cut();
  });

  test('a table that somebody locks, and a database that is read-only, are 503 in time and stored afterwards (B5)', async () => {
    const ingress = await start(database.url);
    await ingress.untilReady();
    await database.db.transaction().execute(async (trx) => {
      await sql`lock table installation_events in exclusive mode`.execute(trx);
      const answer = await send(ingress.base, 900);
      expect(answer).toMatchObject({ status: 503, retryAfter: '10' });
      expect(answer.ms).toBeLessThan(3_000);
    });
    expect(await jobIds()).toEqual([]);
    expect(await send(ingress.base, 900)).toMatchObject({ status: 200, text: 'job_stored' });

    const name = sql.id(new URL(database.url).pathname.slice(1));
    const reconnect = sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'paddock-ingress%' and datname = current_database()`;
    await sql`alter database ${name} set default_transaction_read_only = on`.execute(database.db);
    await reconnect.execute(database.db);
    await waitFor(
      'a refusal for being read-only',
      async () => (await send(ingress.base, 901)).status === 503 && ingress.lines().some((line) => line.includes('25006')),
    );
    await sql`alter database ${name} reset default_transaction_read_only`.execute(database.db);
    await reconnect.execute(database.db);
    await waitFor('an accepted delivery', async () => (await send(ingress.base, 902)).status === 200);
    expect(await jobIds()).toEqual([900, 902]);
  });

  test('is not ready, with a sentence, while the schema is missing (A10)', async () => {
    const empty = await createEmptyDatabase();
    const ingress = await start(empty.url);
    expect(await ingress.readiness()).toMatchObject({ status: 503, text: expect.stringContaining('run `pnpm db:migrate`') });
    expect(await send(ingress.base, 900)).toMatchObject({ status: 503 });
    ingress.kill('SIGTERM');
    expect(await ingress.exited).toEqual({ code: 0, signal: null });
    await empty.drop();
  });

  test('a second replica with another pools document puts it in force for both (B4)', async () => {
    const first = await start(database.url, { PADDOCK_POOLS_REFRESH_MS: '100' });
    await first.untilReady();
    writeFileSync(join(folder, 'newer.yaml'), CONFIG.replace('linux', 'windows'));
    const second = await start(database.url, { PADDOCK_CONFIG: join(folder, 'newer.yaml') });
    await second.untilReady();
    expect(await send(second.base, 900)).toMatchObject({ text: 'ignored_no_label' });
    // Each look is a job of its own: one that was stored by the older document would be known from then on.
    let jobId = 901;
    await waitFor('the same judgement by the first replica', async () => (await send(first.base, jobId++)).text === 'ignored_no_label');
  });
});
