import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const scene = useStopScene(world);

const ENDED = { status: 'failed', stop_reason: 'pod_gone', stop_held_by: null };

/**
 * A worker whose pod has gone and whose entity has removed the App, so that GitHub gives no answer
 * about its runner.
 */
async function abandonedWorker(): Promise<string> {
  const podName = await scene.makeWorker(() => world.queueJob());
  await waitFor('the pod to run', async () => (await scene.pod(podName))?.phase === 'Running');
  await scene.follow();
  await scene.cancelAll();
  await scene.losePod(podName);
  await world.gitHub.failNext({
    path: '/access_tokens$|/actions/runners',
    status: 404,
    times: 10_000,
  });
  await scene.follow();
  return podName;
}

test('a worker without pod and App ends after a week, for no runner lives as long, and not before (A3)', async () => {
  const podName = await abandonedWorker();
  await scene.letEnd(podName, { attempts: 3, minutes: 3_000 });
  expect(await scene.row(podName)).toMatchObject({
    status: 'running',
    stop_held_by: expect.any(String),
  });
  await scene.letEnd(podName, { attempts: 3, minutes: 3_000 });
  expect(await scene.row(podName)).toMatchObject(ENDED);
});

test('a worker without pod and App ends at once when a person states that its runner is gone (A3)', async () => {
  const podName = await abandonedWorker();
  await world.runTasks();
  expect((await scene.row(podName)).status).toBe('running');
  const page = await readFile(join(import.meta.dirname, '../../../../docs/stopping.md'), 'utf8');
  const [, statement = ''] = /```sql\n(with stated as .*?)```/s.exec(page) ?? [];
  await sql.raw(statement.replace('pdk-abc123-linux-x64-0123456789ab', podName)).execute(world.db);
  await world.runTasks();
  expect(await scene.row(podName)).toMatchObject(ENDED);
});
