import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Program } from '@paddock/processes/start-program';
import { type Tunnel, startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { type TestSystem, isReady, startSystem } from './start-system.ts';

const said = (service: Program, from: number) =>
  service
    .lines()
    .slice(from)
    .map(
      (line) =>
        JSON.parse(line) as {
          message: string;
          level: string;
          afterMs?: number;
          cost?: object;
          error?: { stack?: string };
        },
    );
describe('PostgreSQL that is away', () => {
  let system: TestSystem;
  let tunnel: Tunnel;
  const services: Program[] = [];
  beforeAll(async () => {
    system = await startSystem();
    tunnel = await startTunnel(system.database.url);
    for (const name of ['ingress', 'scheduler', 'reconciler'] as const) {
      services.push(
        await system.start(name, {
          settings: { DATABASE_URL: tunnel.url, PADDOCK_LOG_LEVEL: 'info' },
        }),
      );
    }
  });
  afterAll(async () => {
    await tunnel.cut();
    await system.stop();
  });

  test('an outage of PostgreSQL is two lines in the log of each service, and no stack trace (H1)', async () => {
    for (const service of services) await waitFor('readiness', () => isReady(service));
    await system.queueJobs(1);
    await waitFor('the job to end', async () => {
      const { jobs } = await system.github.truth();
      return jobs.every(({ status }) => status === 'completed');
    });
    const before = services.map((service) => service.lines().length);
    await tunnel.cut();
    for (const [nth, service] of services.entries()) {
      await waitFor('the line of its beginning', () =>
        said(service, before[nth] ?? 0).some(({ message }) =>
          message.startsWith('PostgreSQL cannot'),
        ),
      );
    }
    await system.queueJobs(1);
    await tunnel.mend();
    for (const [nth, service] of services.entries()) {
      const lines = () => said(service, before[nth] ?? 0);
      const back = await waitFor('the line of its end', () =>
        lines().find(({ message }) => message === 'PostgreSQL answers again'),
      );
      expect(back).toEqual(
        expect.objectContaining({ afterMs: expect.any(Number), cost: expect.any(Object) }),
      );
      expect(lines().filter(({ message }) => message.startsWith('PostgreSQL '))).toHaveLength(2);
      expect(lines().filter(({ error }) => error !== undefined)).toEqual([]);
      await waitFor('readiness', () => isReady(service));
    }
  });
});

describe('the listener loses its connection again and again, so no notification arrives', () => {
  let system: TestSystem;
  let lost: LostNotifications;

  beforeAll(async () => {
    system = await startSystem();
    lost = await loseNotifications(system.database.url);
    await system.start('ingress');
    await system.start('scheduler', { settings: { DATABASE_URL: lost.url } });
  });

  afterAll(async () => {
    await system.stop();
    await lost.stop();
  });

  test('jobs get workers, more than the cap allows at once among them, and all rows end (C1, D3, P1)', async () => {
    await waitFor('a listener to be cut', () => lost.hits() > 0);
    await system.untilJobs(await system.queueJobs(7, { durationMs: 20 }), 'completed');
    await system.untilWorkersEnd();
    await waitFor('the Secrets to go', () => system.cluster.report().secretsLeft.length === 0);
    expect(lost.hits()).toBeGreaterThan(0);
    const { excessWorkers, lost: lostJobs } = await system.github.report();
    expect({ excessWorkers, lostJobs }).toEqual({ excessWorkers: 0, lostJobs: 0 });
  });
});

/** A relay between services and PostgreSQL; `hits` counts the listeners that it cut. */
interface LostNotifications {
  readonly url: string;
  readonly hits: () => number;
  stop(): Promise<void>;
}

async function loseNotifications(databaseUrl: string): Promise<LostNotifications> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let hits = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A connection that breaks breaks on both sides; its user reports it.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (chunk.includes('listen "')) {
        hits += 1;
        client.destroy();
      } else upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => client.write(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  // The answer to a request for TLS would be a letter alone.
  url.searchParams.set('sslmode', 'disable');
  return {
    url: url.href,
    hits: () => hits,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('runners that GitHub calls too old', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem();
    await system.start('ingress');
    // Short, so that the trials after the alarm come soon.
    await system.start('scheduler', {
      rules: { db: { failingPauseMs: 500, failingLongestPauseMs: 1_000 } },
    });
    // It finds the success of a trial whose job was heard of only after its end.
    await system.start('reconciler', { rules: { reconciler: { lookUpJobsEverySeconds: 2 } } });
  });
  afterAll(() => system.stop());

  const keys = () => system.database.db.selectFrom('demand_keys').selectAll().execute();

  test('a false alarm about the version of runners holds jobs back with its reason, and is over when GitHub’s is (C11, P1)', async () => {
    await system.github.setRunnerFaults({ refusesVersions: true });
    for (let job = 0; job < 3; job += 1)
      await system.github.queueJob({ repo: 'acme/shop', labels: ['linux'] });
    await waitFor('the reason', async () =>
      (await keys()).some((key) => key.wait_reason === 'runner_outdated'),
    );
    await system.github.setRunnerFaults({});
    await waitFor('all jobs to end', async () => (await system.github.report()).completed === 3);
    await waitFor('the failures to be forgotten', async () =>
      (await keys()).every(({ failures }) => failures === 0),
    );
    expect(await system.github.report()).toMatchObject({ lost: 0, killed: 0 });
  });
});
