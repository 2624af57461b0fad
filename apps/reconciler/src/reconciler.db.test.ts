import { type RuleValues, rulesVariable } from '@paddock/runtime/rules';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@paddock/db/migrate';
import { type Receiver, startReceiver } from '@paddock/simulators/github/start-receiver';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { createEmptyDatabase, createTestDatabase } from '@paddock/testing/database';
import { startService } from '@paddock/testing/processes';
import { waitFor } from '@paddock/testing/wait-for';
import { storeEvents } from './scenes/redelivery.scene.ts';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

interface Outside {
  receiver: Receiver;
  world: SmallWorld;
  /** The environment of a reconciler that talks to them and to the given database. */
  environment(databaseUrl: string, rules?: RuleValues): Record<string, string>;
  stop(): Promise<void>;
}

async function startOutside(): Promise<Outside> {
  const receiver = await startReceiver();
  const world = await startSmallWorld({ webhookUrl: receiver.url });
  const kube = await startKubeSimulator();
  const folder = mkdtempSync(join(tmpdir(), 'paddock-reconciler-'));
  const [config, kubeconfig] = [join(folder, 'paddock.yaml'), join(folder, 'kubeconfig')];
  writeFileSync(kubeconfig, kube.kubeconfig);
  const github = {
    apiUrl: world.github.url,
    apps: [{ id: world.appId, privateKey: { env: 'APP_KEY' } }],
  };
  writeFileSync(config, JSON.stringify({ github, pools: [], entities: {} }));
  return {
    receiver,
    world,
    environment: (databaseUrl, rules = {}) => ({
      DATABASE_URL: databaseUrl,
      PADDOCK_CONFIG: config,
      PADDOCK_KUBECONFIG: kubeconfig,
      PADDOCK_HEALTH_PORT: '0',
      PADDOCK_HTTP_HOST: '127.0.0.1',
      ...rulesVariable({ reconciler: { redeliveryEverySeconds: 1 } }, rules),
      APP_KEY: world.privateKeyPem,
    }),
    async stop() {
      await world.github.stop();
      await kube.stop();
      await receiver.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

let outside: Outside;

beforeEach(async () => {
  outside = await startOutside();
});
afterEach(() => outside.stop());

async function loseDelivery({ github }: SmallWorld): Promise<void> {
  await github.setDeliveryFaults({ lossRate: 1 });
  await github.queueJob({ repo: 'acme/api', labels: ['ubuntu'] });
  await github.settled();
  await github.clearFaults();
}

const readText = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

describe('the reconciler as a process', () => {
  test('has a lost delivery repeated, shows it, and stops cleanly (E1, E9, H1, H2)', async () => {
    const { receiver, world } = outside;
    const database = await createTestDatabase();
    await loseDelivery(world);
    expect(receiver.received).toHaveLength(0);

    const service = await startService({
      app: 'reconciler',
      env: outside.environment(database.urlOf('reconciler')),
    });
    await waitFor('the repetition of the lost delivery', () => receiver.received.length > 0);
    expect(receiver.received[0]).toMatchObject({ event: 'workflow_job', action: 'queued' });

    const base = `http://127.0.0.1:${service.port}`;
    await waitFor('readiness', async () => (await readText(`${base}/readyz`)).text === 'ready\n');
    await waitFor('the repetition in the metrics', async () =>
      (await readText(`${base}/metrics`)).text.includes(
        'paddock_events_total{event="redelivered"} 1',
      ),
    );
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.lines().join('\n')).not.toContain(world.privateKeyPem.split('\n')[1]);
    await database.drop();
  });

  test('an App that is added to the file has its lost delivery repeated (B2, E1)', async () => {
    const { receiver, world } = outside;
    const database = await createTestDatabase();
    await loseDelivery(world);
    const env = outside.environment(database.urlOf('reconciler'));
    const path = String(env['PADDOCK_CONFIG']);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, whole.replace(`"id":${world.appId}`, '"id":99'));
    const service = await startService({ app: 'reconciler', env });
    const ticks = async () => {
      const schedules = await database.db.selectFrom('schedules').select('name').execute();
      return schedules.map(({ name }) => name).filter((name) => name.startsWith('redeliver'));
    };
    await waitFor('the tick of App 99', async () => (await ticks()).includes('redeliver:99'));
    expect(receiver.received).toEqual([]);

    writeFileSync(`${path}.new`, whole);
    renameSync(`${path}.new`, path);
    await waitFor('the repetition of the lost delivery', () => receiver.received.length > 0);
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    await database.drop();
  });

  test('starts before the database is migrated, says so, and goes to work by itself once it is (A10)', async () => {
    const { receiver, world } = outside;
    const database = await createEmptyDatabase();
    await loseDelivery(world);
    const service = await startService({
      app: 'reconciler',
      env: outside.environment(database.url),
    });
    const ready = () => readText(`http://127.0.0.1:${service.port}/readyz`);
    const unready = await waitFor('an answer of PostgreSQL', async () => {
      const answer = await ready();
      return !answer.text.includes('cannot be asked') && answer;
    });
    expect(unready).toEqual({
      status: 503,
      text: expect.stringContaining('run `pnpm db:migrate`'),
    });
    await migrate({ url: database.url, schema: 'paddock' });
    await waitFor('the repetition of the lost delivery', () => receiver.received.length > 0);
    await waitFor('readiness', async () => (await ready()).status === 200);
    service.kill('SIGINT');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    await database.drop();
  });

  test('is killed and started again without asking twice for delivered events (E1)', async () => {
    const { receiver, world } = outside;
    const database = await createTestDatabase();
    await loseDelivery(world);
    const first = await startService({
      app: 'reconciler',
      env: outside.environment(database.urlOf('reconciler')),
    });
    await waitFor('the repetition of the lost delivery', () => receiver.received.length > 0);
    first.kill('SIGKILL');
    await first.exited;
    // As ingress does. It is right to ask again for deliveries that GitHub calls successful and our
    // events lack.
    await storeEvents(database.db, [String(receiver.received[0]?.guid)]);
    const second = await startService({
      app: 'reconciler',
      env: outside.environment(database.urlOf('reconciler'), { queue: { taskLeaseMs: 1_000 } }),
    });
    const resolved = async () =>
      (
        await database.db
          .selectFrom('unresolved_deliveries')
          .select('resolved_at')
          .where('resolved_at', 'is', null)
          .execute()
      ).length === 0;
    await waitFor('the delivery to be resolved', resolved);
    second.kill('SIGTERM');
    await second.exited;
    expect((await world.github.report()).redelivered).toBe(1);
    await database.drop();
  });
});
