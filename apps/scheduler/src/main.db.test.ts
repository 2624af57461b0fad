import { rulesVariable } from '@paddock/runtime/rules';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEmptyDatabase } from '@paddock/testing/database';
import { startService } from '@paddock/testing/processes';
import { startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { type SchedulerWorld, startSchedulerWorld } from './scenes/scheduler.scene.ts';

let world: SchedulerWorld;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  world = await startSchedulerWorld();
  folder = await mkdtemp(join(tmpdir(), 'paddock-scheduler-main-'));
  await writeFile(join(folder, 'kubeconfig'), world.kube.kubeconfig);
  const { pools, entities } = world.pools;
  const github = { apiUrl: world.gitHub.url, apps: [{ id: 1001, privateKey: { env: 'APP_KEY' } }] };
  await writeFile(join(folder, 'paddock.yaml'), JSON.stringify({ github, pools, entities }));
  env = {
    DATABASE_URL: world.databaseUrl,
    PADDOCK_CONFIG: join(folder, 'paddock.yaml'),
    PADDOCK_KUBECONFIG: join(folder, 'kubeconfig'),
    PADDOCK_HEALTH_PORT: '0',
    PADDOCK_HTTP_HOST: '127.0.0.1',
    APP_KEY: world.privateKeyPem,
  };
});
afterAll(async () => {
  await world.stop();
  await rm(folder, { recursive: true });
});

const get = async (port: number | undefined, path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, text: await response.text() };
};

describe('the scheduler as a process', () => {
  test('makes workers for waiting jobs, shows its metrics, and stops cleanly on SIGTERM (C1, H1, H2)', async () => {
    const scheduler = await startService({ app: 'scheduler', env });
    await waitFor('readiness', async () => (await get(scheduler.port, '/readyz')).status === 200);
    await world.queueJob();
    const worker = await waitFor('the worker to end', async () =>
      (await world.workers()).find(({ status }) => status === 'completed'),
    );
    expect(worker.exit_code).toBe(0);
    await waitFor('the Secret to go', () => world.kube.report().secretsLeft.length === 0);
    // The last steps of provisioning may be under way when the worker has ended already.
    const counted = [
      'events_total{event="demandMatched"}',
      'events_total{event="runnerRegistered"}',
      'events_total{event="podCreated"}',
      'job_to_pod_seconds_count{pool="linux"}',
    ];
    const shown = await waitFor('the metrics', async () => {
      const { text } = await get(scheduler.port, '/metrics');
      return counted.every((metric) => text.includes(`\npaddock_${metric} 1\n`)) && text;
    });
    expect(shown).toMatch(/^paddock_match_duration_seconds_count(\{.*\})? [1-9]/m);
    for (const atRest of ['pools_file_refused', 'warm_scopes_unknown'])
      expect(shown).toMatch(new RegExp(`^paddock_${atRest}(\\{.*\\})? 0$`, 'm'));
    for (const ofKind of ['task_queued', 'task_due', 'task_oldest_due_seconds'])
      expect(shown).toMatch(new RegExp(`^paddock_${ofKind}\\{kind="[a-z-]+"\\} \\d`, 'm'));
    scheduler.kill('SIGTERM');
    expect(await scheduler.exited).toMatchObject({ code: 0 });
    expect(scheduler.lines().join('\n')).not.toMatch(/BEGIN RSA|[A-Za-z0-9+/]{120,}/);
  });

  test('goes on at once when PostgreSQL answers again, though every poll and tick is a minute away (A7)', async () => {
    await world.reset();
    const tunnel = await startTunnel(world.databaseUrl);
    const longPolls = rulesVariable({
      queue: { taskPollMs: 60_000 },
      scheduler: { matchTickMs: 600_000 },
    });
    const scheduler = await startService({
      app: 'scheduler',
      env: { ...env, ...longPolls, DATABASE_URL: tunnel.url },
    });
    await waitFor('readiness', async () => (await get(scheduler.port, '/readyz')).status === 200);
    await tunnel.cut();
    await waitFor('the outage to be noticed', () =>
      scheduler.lines().some((line) => line.includes('PostgreSQL cannot be reached')),
    );
    await world.queueJob();
    await tunnel.mend();
    await waitFor('the pod', async () =>
      (await world.workers()).some(({ pod_uid: uid }) => uid !== null),
    );
    scheduler.kill('SIGTERM');
    expect(await scheduler.exited).toMatchObject({ code: 0 });
    await tunnel.cut();
  });

  test('starts on a database without our tables, and says in a sentence why it is not ready (A10)', async () => {
    const empty = await createEmptyDatabase();
    const scheduler = await startService({
      app: 'scheduler',
      env: { ...env, DATABASE_URL: empty.url },
    });
    const { status } = await waitFor('the sentence', async () => {
      const answer = await get(scheduler.port, '/readyz');
      return answer.text.includes('run `pnpm db:migrate`') && answer;
    });
    expect(status).toBe(503);
    scheduler.kill('SIGTERM');
    expect(await scheduler.exited).toMatchObject({ code: 0 });
    await empty.drop();
  });
});
