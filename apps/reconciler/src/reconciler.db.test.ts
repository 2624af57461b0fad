import { type RuleValues, rulesVariable } from '@paddock/runtime/rules';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@paddock/db/migrate';
import { listenHttp } from '@paddock/runtime/http-server';
import { startReceiver } from '@paddock/simulators/github/start-receiver';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { createEmptyDatabase, createTestDatabase } from '@paddock/testing/database';
import { startService } from '@paddock/testing/processes';
import { waitFor } from '@paddock/testing/wait-for';
import { storeEvents } from './scenes/redelivery.scene.ts';
import { useScene } from './scenes/sweep.scene.ts';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';

/** A GitHub with a lost delivery, a cluster and a database; reconcilers that talk to them. */
async function startOutside() {
  const receiver = await startReceiver();
  const world = await startSmallWorld({ webhookUrl: receiver.url });
  const kube = await startKubeSimulator();
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'paddock-reconciler-'));
  const config = join(folder, 'paddock.yaml');
  const writeApp = (id: number, other: object = {}) => {
    const apps = [{ id, privateKey: { env: 'APP_KEY' } }];
    const github = { apiUrl: world.github.url, apps };
    writeFileSync(`${config}.new`, JSON.stringify({ github, pools: [], entities: {}, ...other }));
    renameSync(`${config}.new`, config);
  };
  writeApp(world.appId);
  await loseDelivery(world);
  return {
    receiver,
    world,
    database,
    writeApp,
    folder,
    start: (databaseUrl = database.urlOf('reconciler'), rules: RuleValues = {}) =>
      startService({
        app: 'reconciler',
        env: {
          DATABASE_URL: databaseUrl,
          PADDOCK_CONFIG: config,
          PADDOCK_KUBECONFIG: kube.writeKubeconfig(),
          PADDOCK_HEALTH_PORT: '0',
          PADDOCK_HTTP_HOST: '127.0.0.1',
          ...rulesVariable({ reconciler: { redeliveryEverySeconds: 1 } }, rules),
          APP_KEY: world.privateKeyPem,
        },
      }),
    untilRepeated: () =>
      waitFor('the repetition of the lost delivery', () => receiver.received.length > 0),
    async stop() {
      await world.github.stop();
      await kube.stop();
      await receiver.stop();
      await database.drop();
      rmSync(folder, { recursive: true });
    },
  };
}

const endOf = async (service: Awaited<ReturnType<typeof startService>>, signal: NodeJS.Signals) => {
  service.kill(signal);
  expect(await service.exited).toEqual({ code: 0, signal: null });
};

async function loseDelivery({ github }: SmallWorld): Promise<void> {
  await github.setDeliveryFaults({ lossRate: 1 });
  await github.queueJob({ repo: 'acme/api', labels: ['ubuntu'] });
  await github.settled();
  await github.clearFaults();
}

const outside = useScene(startOutside);

const readText = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

describe('the reconciler as a process', () => {
  test('has a lost delivery repeated, shows it, and stops cleanly (E1, E9, H1, H2)', async () => {
    const { receiver, world } = outside;
    expect(receiver.received).toHaveLength(0);
    const service = await outside.start();
    await outside.untilRepeated();
    expect(receiver.received[0]).toMatchObject({ event: 'workflow_job', action: 'queued' });
    const base = `http://127.0.0.1:${service.port}`;
    await waitFor('readiness', async () => (await readText(`${base}/readyz`)).text === 'ready\n');
    await waitFor('the repetition in the metrics', async () =>
      (await readText(`${base}/metrics`)).text.includes(
        'paddock_events_total{event="redelivered"} 1',
      ),
    );
    await endOf(service, 'SIGTERM');
    expect(service.lines().join('\n')).not.toContain(world.privateKeyPem.split('\n')[1]);
  });

  test('an App that is added to the file has its lost delivery repeated (B2, E1)', async () => {
    const { receiver, world, database } = outside;
    outside.writeApp(99);
    const service = await outside.start();
    await waitFor('the tick of App 99', async () => {
      const schedules = await database.db.selectFrom('schedules').select('name').execute();
      return schedules.some(({ name }) => name === 'redeliver:99');
    });
    expect(receiver.received).toEqual([]);
    outside.writeApp(world.appId);
    await outside.untilRepeated();
    await endOf(service, 'SIGTERM');
  });

  test('starts before the database is migrated, says so, and goes to work by itself once it is (A10)', async () => {
    const database = await createEmptyDatabase();
    const service = await outside.start(database.url);
    const ready = () => readText(`http://127.0.0.1:${service.port}/readyz`);
    const unready = await waitFor('an answer of PostgreSQL', async () => {
      const answer = await ready();
      return !answer.text.includes('cannot be asked') && answer;
    });
    expect(unready).toEqual({
      status: 503,
      text: expect.stringContaining('the migration has not run on this database'),
    });
    await migrate({ url: database.url, schema: 'paddock' });
    await outside.untilRepeated();
    await waitFor('readiness', async () => (await ready()).status === 200);
    await endOf(service, 'SIGINT');
    await database.drop();
  });

  test('is killed and started again without asking twice for delivered events (E1)', async () => {
    const { receiver, world, database } = outside;
    const first = await outside.start();
    await outside.untilRepeated();
    first.kill('SIGKILL');
    await first.exited;
    // As ingress does. It is right to ask again for deliveries that GitHub calls successful and our
    // events lack.
    await storeEvents(database.db, [String(receiver.received[0]?.guid)]);
    const second = await outside.start(undefined, { queue: { taskLeaseMs: 5_000 } });
    const unresolved = () =>
      database.db
        .selectFrom('unresolved_deliveries')
        .select('guid')
        .where('resolved_at', 'is', null)
        .execute();
    await waitFor('its end', async () => (await unresolved()).length === 0);
    await endOf(second, 'SIGTERM');
    expect((await world.github.report()).redelivered).toBe(1);
  });

  test('killed before it notes that people were told, another one tells them again, and only then', async () => {
    const { database, folder, world } = outside;
    const heard: string[] = [];
    const { port, close } = await listenHttp(
      ({ url }, response) => {
        heard.push(String(url));
        // The first process is killed while it waits.
        if (heard.length > 1) response.end();
      },
      { port: 0, host: '127.0.0.1' },
    );
    writeFileSync(join(folder, 'webhook'), `http://127.0.0.1:${port}/hush\n`);
    outside.writeApp(world.appId, {
      notifications: { webhook: { file: join(folder, 'webhook') } },
    });
    await sql`update instance set ingress_seen_at = now() - interval '1 hour', scheduler_seen_at = 'infinity'`.execute(
      database.db,
    );
    const rules = { queue: { taskLeaseMs: 5_000 }, reconciler: { recoverTasksEverySeconds: 1 } };
    const first = await outside.start(undefined, rules);
    await waitFor('the first post', () => heard.length > 0);
    first.kill('SIGKILL');
    await first.exited;
    const second = await outside.start(undefined, rules);
    const passes = () =>
      database.db
        .selectFrom('operations')
        .select('id')
        .where('kind', '=', 'recover-tasks')
        .where('status', '=', 'OK')
        .execute();
    await waitFor('three more passes', async () => (await passes()).length >= 3);
    expect(heard).toEqual(['/hush', '/hush']);
    await endOf(second, 'SIGTERM');
    expect(second.lines().join('\n')).not.toContain('hush');
    await close();
  });
});
