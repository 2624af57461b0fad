import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Program } from '@paddock/processes/start-program';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { startSystem, type TestSystem } from './start-system.ts';

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
const isReady = async ({ healthPort }: Program) =>
  (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status === 200;

test('an outage of PostgreSQL is two lines in the log of each service, and no stack trace (H1)', async () => {
  for (const service of services) await waitFor('readiness', () => isReady(service));
  await system.github.queueJob({ repo: 'acme/shop', labels: ['self-hosted', 'linux'] });
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
  await system.github.queueJob({ repo: 'acme/shop', labels: ['self-hosted', 'linux'] });
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
