import { beforeEach, describe, expect, test } from '@jest/globals';
import { minutesAgo, putWorker } from '@paddock/testing/demand-rows';
import { ACME, ENDED, GLOBEX, HOOLI, useMatching } from '../scenes/matching.scene.ts';

const scene = useMatching({});

const NOW = minutesAgo(0);

describe('a key whose workers fail (C11, P4)', () => {
  test('has one worker after its pause, whose row is the trial until it ends', async () => {
    await scene.putJobs(3, ACME);
    await scene.fail(ACME);
    await scene.waits.endPauses();
    expect(await scene.matchAll()).toBe(1);
    expect(await scene.keys()).toEqual([['acme', 'linux', 1, 'workers_failing']]);
    // The executor of its task may have died hours ago: there is no other clock.
    await scene.changeWorkers({ created_at: minutesAgo(300) });
    expect(await scene.matchAll()).toBe(0);
    await scene.changeWorkers(ENDED);
    expect(await scene.matchAll()).toBe(1);
  });

  test.each([
    ['one beside a pod that waits for a node', 'pod_refused', { pod_uid: 'made' }, 1],
    ['one registration beside another that it has', 'conflict', {}, 1],
    ['none beside a pod that may still fail to start', 'image_pull', { pod_uid: 'made' }, 0],
  ])('tries %s after its pause (%s)', async (_name, failureClass, row, made) => {
    await scene.putJobs(3, ACME);
    await putWorker(scene.db, { registered_at: minutesAgo(9), ...row });
    await scene.fail(ACME, failureClass);
    expect(await scene.matchAll()).toBe(0);
    await scene.waits.endPauses();
    expect(await scene.matchAll()).toBe(made);
  });
});

const hoolis = async () =>
  (await scene.alive()).filter(({ entity_name: name }) => name === HOOLI.entity_name).length;

describe('a pool that fails for two entities (P6)', () => {
  beforeEach(async () => {
    for (const entity of [ACME, GLOBEX]) {
      await scene.putJobs(1, entity);
      await scene.fail(entity);
    }
    await scene.waits.endPauses();
    await scene.putJobs(4, HOOLI);
  });

  test('lets a third go on at once that has a worker there which began to run since', async () => {
    const running = { status: 'running', running_at: NOW, assigned_at: NOW } as const;
    await putWorker(scene.db, { ...HOOLI, ...running });
    await scene.matchAll();
    expect(await hoolis()).toBe(5);
  });

  test('lets a third begin with one worker, as long as the two have jobs', async () => {
    await scene.matchAll();
    expect([await hoolis(), (await scene.keys())[2]?.[3]]).toEqual([1, 'pool_suspected']);
    const { db } = scene;
    const others = [ACME.entity_id, GLOBEX.entity_id];
    await db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('entity_id', 'in', others)
      .execute();
    await scene.matchAll();
    expect(await hoolis()).toBe(4);
  });
});

const unassigned = () =>
  scene.db
    .updateTable('workers')
    .where('status', 'in', ['pending', 'running'])
    .where('assigned_at', 'is', null);
/** All are idle past their deadline, and GitHub calls their jobs queued. */
const stopIdle = async (podName?: string) => {
  await scene.changeJobs({ looked_up_at: NOW });
  await unassigned()
    .set({ stopping_at: NOW, stop_reason: 'not_assigned' })
    .where('stopping_at', 'is', null)
    .$if(podName !== undefined, (update) => update.where('pod_name', '=', podName ?? ''))
    .execute();
};
const endStopped = () => unassigned().set(ENDED).where('stopping_at', 'is not', null).execute();
const goUnserved = async () => {
  await stopIdle();
  const matched = await scene.match();
  await endStopped();
  return matched;
};

describe('a key whose idle workers GitHub leaves without jobs (C11)', () => {
  beforeEach(async () => {
    await scene.putJobs(2, ACME);
    await scene.match();
  });

  test('is paused when a replacement also gets no job, is reported once, and tries one after each pause (P5)', async () => {
    await goUnserved();
    expect(await goUnserved()).toMatchObject({
      reserved: [],
      lacking: 2,
      unserved: [{ pool: 'linux', entityName: 'acme', pauses: 1 }],
    });
    expect(await scene.match()).toMatchObject({ reserved: [], unserved: [] });
    await scene.waits.endPauses();
    expect(await scene.match()).toMatchObject({ reserved: [{}] });
    expect(await scene.match()).toMatchObject({ reserved: [] });
    expect(await scene.keys()).toEqual([['acme', 'linux', 1, 'github_does_not_assign']]);
    expect(await goUnserved()).toMatchObject({ unserved: [{ pauses: 2 }] });
  });

  test('makes workers during its pause for a repository that had no waiting job when it failed (P6)', async () => {
    await goUnserved();
    await goUnserved();
    await scene.putJobs(1, ACME);
    expect(await scene.matchAll()).toBe(0);
    await scene.putJobs(2, { ...ACME, repo_id: 22, repo_full_name: 'acme/other' });
    expect(await scene.matchAll()).toBe(2);
  });

  test('is not blamed twice for workers of one making that are found idle one after the other', async () => {
    for (const { pod_name: name } of await scene.workers()) {
      await stopIdle(name);
      expect(await scene.match()).toMatchObject({ reserved: [{}], unserved: [] });
    }
  });

  test.each([
    ['before GitHub has said that a job is still queued', { looked_up_at: null }],
    ['by GitHub’s answer from long before the stop', { looked_up_at: minutesAgo(6) }],
    ['while GitHub does not know the jobs', { seen_gone_at: NOW }],
    ['for jobs that came after its workers had been registered', { created_at: minutesAgo(-1) }],
  ])('is not blamed %s (E4)', async (_name, jobs) => {
    for (let round = 0; round < 3; round += 1) {
      await stopIdle();
      await scene.changeJobs(jobs);
      expect(await scene.match()).toMatchObject({ reserved: [{}, {}], unserved: [] });
      await endStopped();
    }
  });
});
