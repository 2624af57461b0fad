import { expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import { listPods } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeList } from './follow-pods.ts';

const world = useSchedulerWorld({ playRunners: false });

const list = async () =>
  (await listPods(world.cluster, { namespace: 'runners', instance: await findInstance(world.db) }))
    .pods;

test('one empty list takes no worker for lost, two take all (C8, P1, P6)', async () => {
  for (let made = 0; made < 10; made += 1) await world.queueJob();
  await world.match();
  await world.runTasks();
  await waitFor(
    'the pods to run',
    async () => (await list()).filter(({ phase }) => phase === 'Running').length === 10,
  );
  await takeList({ ...world.parts, ...FOLLOWING }, 'runners', await list(), []);
  const lists = () => world.kube.report().calls['list pods'] ?? 0;
  const stopReasons = async () =>
    new Set((await world.workers()).map(({ stop_reason }) => stop_reason));

  world.kube.failNext({ verb: 'list', path: '/pods$', empty: true });
  const before = lists();
  const stop = world.follow({ confirmAfterMs: 1 });
  await waitFor('a second list', () => Promise.resolve(lists() >= before + 2));
  await stop();
  expect(await stopReasons()).toEqual(new Set([null]));

  world.kube.failNext({ verb: 'list', path: '/pods$', empty: true, times: 2 });
  const stopAgain = world.follow({ confirmAfterMs: 1 });
  await waitFor('the workers to be taken for lost', async () =>
    (await stopReasons()).has('pod_gone'),
  );
  await stopAgain();
  expect(await stopReasons()).toEqual(new Set(['pod_gone']));
});
