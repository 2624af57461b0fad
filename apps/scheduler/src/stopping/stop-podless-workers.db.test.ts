import { afterEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

/** Runners are not played: GitHub calls one online only where a test connects it. */
const world = useSchedulerWorld({ playRunners: false });
const scene = useStopScene(world);
afterEach(() => scene.cancelAll());

describe('a worker without a pod (A3)', () => {
  test('which is gone, and GitHub does not know the runner: it ends at once, when its pod went', async () => {
    const podName = await scene.startUnregistered();
    await scene.losePod(podName);
    for (const { id } of (await world.gitHub.truth()).runners.filter(
      ({ name }) => name === podName,
    )) {
      const { octokit } = world.github.asInstallation({
        appId: 1001,
        installationId: world.installationId,
        entityId: 0,
      });
      await octokit.request('DELETE /orgs/{org}/actions/runners/{runner_id}', {
        org: 'acme',
        runner_id: id,
      });
    }
    await scene.follow();
    const { pod_gone_at: goneAt } = await scene.row(podName);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({
      status: 'failed',
      stop_reason: 'pod_gone',
      completed_at: goneAt,
      pod_deleted_at: goneAt,
    });
    expect(world.kube.report().secretsLeft).not.toContain(`runners/${podName}`);
  });

  test('which is gone, and GitHub calls the runner offline: it ends after ten minutes of that, and not before', async () => {
    const podName = await scene.startUnregistered();
    await scene.losePod(podName);
    await scene.follow();
    await world.runTasks();
    await scene.letTimePass(9);
    await world.runTasks();
    expect((await scene.row(podName)).status).toBe('running');
    await scene.letTimePass(2);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({ status: 'failed', stop_reason: 'pod_gone' });
  });

  test('which is gone, but GitHub calls the runner online: it may work on a node that is cut off, and goes on until GitHub says otherwise (P2)', async () => {
    const podName = await scene.startUnregistered();
    await scene.cancelAll();
    const disconnect = await scene.connectRunner(podName);
    await scene.losePod(podName);
    await scene.follow();
    await scene.letEnd(podName, { attempts: 4, minutes: 60 });
    expect(await scene.row(podName)).toMatchObject({
      status: 'running',
      stop_held_by: expect.stringContaining('online'),
    });
    expect((await scene.runner(podName))?.state).toBe('idle');

    await disconnect();
    await waitFor(
      'GitHub to call it offline',
      async () => (await scene.runner(podName))?.state === 'offline',
    );
    await scene.letEnd(podName, { minutes: 11 });
    expect(await scene.row(podName)).toMatchObject({ status: 'failed', stop_reason: 'pod_gone' });
  });

  test('which was never made: deregistered, then ended', async () => {
    world.kube.setQuota(0);
    const podName = await scene.makeWorker(() => world.queueJob());
    expect(await scene.runner(podName)).toBeDefined();
    await scene.askToStop(podName, 'surplus');
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({
      status: 'failed',
      stop_reason: 'surplus',
      pod_uid: null,
    });
    expect(await scene.runner(podName)).toBeUndefined();
    expect(world.kube.report().secretsLeft).not.toContain(`runners/${podName}`);
  });
});
