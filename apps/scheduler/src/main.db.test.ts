import { beforeEach, describe, expect, test } from '@jest/globals';
import { findCauses } from '@paddock/db/causes';
import { findMatchingSettings } from '@paddock/db/instance';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { type Scheduler, useSchedulers } from './scenes/scheduler-process.scene.ts';
import { APP_ID } from './scenes/settings.scene.ts';
import { useSchedulerWorld } from './scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const schedulers = useSchedulers(world);
beforeEach(() => schedulers.configure());

const SECRETS = /BEGIN RSA|[A-Za-z0-9+/]{120,}/;
const completed = async () =>
  (await world.workers()).filter(({ status }) => status === 'completed');
const end = ({ kill, exited }: Scheduler) => {
  kill('SIGTERM');
  return exited;
};

const writeKey = (id: number, text = world.privateKeyPem) => schedulers.write(`${id}.pem`, text);
const useApps = async (...ids: number[]) => {
  const apps = ids.map(async (id) => ({ id, privateKey: { file: await writeKey(id) } }));
  await schedulers.configure({ apps: await Promise.all(apps) });
};
/** Resolves once one more worker has ended well. */
const untilDone = async (act: () => Promise<unknown>): Promise<void> => {
  const before = (await completed()).length;
  await act();
  await waitFor('a worker to end', async () => (await completed()).length === before + 1);
};
const minted = async () =>
  (await world.gitHub.report()).calls['apps/create-installation-access-token'] ?? 0;

describe('the scheduler as a process', () => {
  test('makes workers for waiting jobs, shows its metrics, and stops cleanly on SIGTERM (C1, H1, H2)', async () => {
    const scheduler = await schedulers.start();
    await scheduler.untilReady();
    await world.queueJob();
    const worker = await waitFor('the worker to end', async () => (await completed())[0]);
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
      const { text } = await scheduler.get('/metrics');
      return counted.every((metric) => text.includes(`\npaddock_${metric} 1\n`)) && text;
    });
    expect(shown).toMatch(/^paddock_match_duration_seconds_count(\{.*\})? [1-9]/m);
    for (const atRest of ['pools_file_refused', 'warm_scopes_unknown'])
      expect(shown).toMatch(new RegExp(`^paddock_${atRest}(\\{.*\\})? 0$`, 'm'));
    for (const ofKind of ['task_queued', 'task_due', 'task_oldest_due_seconds'])
      expect(shown).toMatch(new RegExp(`^paddock_${ofKind}\\{kind="[a-z-]+"\\} \\d`, 'm'));
    expect(await end(scheduler)).toMatchObject({ code: 0 });
    expect(scheduler.lines().join('\n')).not.toMatch(SECRETS);
  });

  test('goes on at once when PostgreSQL answers again, though every poll and tick is a minute away (A7)', async () => {
    const tunnel = await startTunnel(world.databaseUrl);
    const longPolls = { queue: { taskPollMs: 60_000 }, scheduler: { matchTickMs: 600_000 } };
    const scheduler = await schedulers.start(longPolls, { DATABASE_URL: tunnel.url });
    await scheduler.untilReady();
    await tunnel.cut();
    await waitFor(
      'the outage to be noticed',
      () => scheduler.said('PostgreSQL cannot be reached').length > 0,
    );
    await world.queueJob();
    await tunnel.mend();
    await waitFor('the pod', async () =>
      (await world.workers()).some(({ pod_uid: uid }) => uid !== null),
    );
    expect(await end(scheduler)).toMatchObject({ code: 0 });
    await tunnel.cut();
  });
});

describe('Apps that change while the scheduler runs (B2)', () => {
  const OTHER_APP = 1002;
  const FAST = { scheduler: { matchTickMs: 200 } };

  test('an App that is removed makes no runner, and one that is added does', async () => {
    await useApps(APP_ID);
    await schedulers.start(FAST);
    await useApps(OTHER_APP);
    await waitFor('the other App alone', async () => {
      const settings = await findMatchingSettings(world.db);
      return String(settings?.appIds) === String(OTHER_APP);
    });
    await world.queueJob();
    await waitFor(
      'the job to be held',
      async () => (await world.reasons())[0] === 'app_not_configured',
    );
    expect(await world.workers()).toEqual([]);
    await untilDone(() => useApps(OTHER_APP, APP_ID));
  });

  test('a changed key is used, and none that cannot be read, which the rows tell too (P5)', async () => {
    await useApps(APP_ID);
    const scheduler = await schedulers.start(FAST, { PADDOCK_LOG_LEVEL: 'info' });
    const ready = async () => (await scheduler.get('/readyz')).text;
    await untilDone(() => world.queueJob());
    const before = await minted();

    await writeKey(APP_ID, 'no key');
    const warning = await waitFor('the warning', async () => {
      const text = await ready();
      return text.startsWith('ready; changed GitHub Apps are refused') && text;
    });
    expect(warning).toContain(`The private key of GitHub App ${APP_ID} cannot be read`);
    const told = await waitFor('the rows', async () =>
      (await findCauses(world.db)).find(({ name }) => name === 'change_refused'),
    );
    expect(`ready; ${told.message}`).toBe(warning);

    const { privateKeyPem, publicKeyPem } = createAppKey();
    await world.gitHub.setApp(APP_ID, { publicKeyPem });
    await writeKey(APP_ID, privateKeyPem);
    await waitFor(
      'the key to be used',
      () => scheduler.said('the changed secret of a GitHub App').length > 0,
    );
    expect(await ready()).toBe('ready');
    await untilDone(() => world.queueJob());
    // Its token was minted with the new key: GitHub knows no other.
    expect(await minted()).toBe(before + 1);
    expect(scheduler.said('changed GitHub Apps refused')).toHaveLength(1);
    expect(scheduler.lines().join('\n')).not.toMatch(SECRETS);
  });
});
