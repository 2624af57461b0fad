import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Program } from '@paddock/processes/start-program';
import { type Tunnel, startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { isReady, useSystem } from './start-system.ts';

interface Line {
  readonly message: string;
  readonly error?: object;
}

const said = (service: Program, from: number) =>
  service
    .lines()
    .slice(from)
    .map((line) => JSON.parse(line) as Line);

describe('PostgreSQL that is away', () => {
  const system = useSystem();
  let tunnel: Tunnel;
  const services: Program[] = [];
  beforeAll(async () => {
    tunnel = await startTunnel(system.database.url);
    for (const name of ['ingress', 'scheduler', 'reconciler'] as const) {
      services.push(
        await system.start(name, {
          settings: { DATABASE_URL: tunnel.url, PADDOCK_LOG_LEVEL: 'info' },
        }),
      );
    }
  });
  afterAll(() => tunnel.cut());

  test('an outage of PostgreSQL is two lines in the log of each service, and no stack trace (H1)', async () => {
    for (const service of services) await waitFor('readiness', () => isReady(service));
    await system.queueJobs(1);
    await waitFor('the job to end', async () => (await system.github.report()).completed === 1);
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
      expect(back).toMatchObject({ afterMs: expect.any(Number), cost: expect.any(Object) });
      expect(lines().filter(({ message }) => message.startsWith('PostgreSQL '))).toHaveLength(2);
      expect(lines().filter(({ error }) => error !== undefined)).toEqual([]);
      await waitFor('readiness', () => isReady(service));
    }
  });
});

describe('the listener loses its connection again and again, so no notification arrives', () => {
  const system = useSystem({ ingress: {} });
  let tunnel: Tunnel;
  let cuts = 0;

  beforeAll(async () => {
    tunnel = await startTunnel(system.database.url, (sent) => {
      const isListener = sent.includes('listen "');
      cuts += Number(isListener);
      return isListener;
    });
    await system.start('scheduler', {
      settings: { DATABASE_URL: `${tunnel.url}?sslmode=disable` },
    });
  });
  afterAll(() => tunnel.cut());

  test('jobs get workers, more than the cap allows at once among them, and all rows end (C1, D3, P1)', async () => {
    await waitFor('a listener to be cut', () => cuts > 0);
    await system.untilJobs(await system.queueJobs(7, { durationMs: 20 }), 'completed');
    await system.untilWorkersEnd();
    await waitFor('the Secrets to go', () => system.cluster.report().secretsLeft.length === 0);
    expect(await system.github.report()).toMatchObject({ excessWorkers: 0, lost: 0 });
  });
});

describe('runners that GitHub calls too old', () => {
  const system = useSystem({
    ingress: {},
    // Short, so that the trials after the alarm come soon.
    scheduler: { rules: { db: { failingPauseMs: 500, failingLongestPauseMs: 1_000 } } },
    // It finds the success of a trial whose job was heard of only after its end.
    reconciler: { rules: { reconciler: { lookUpJobsEverySeconds: 2 } } },
  });

  const keys = () => system.database.db.selectFrom('demand_keys').selectAll().execute();

  test('a false alarm about the version of runners holds jobs back with its reason, and is over when GitHub’s is (C11, P1)', async () => {
    await system.github.setRunnerFaults({ refusesVersions: true });
    await system.queueJobs(3, { labels: ['linux'] });
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
