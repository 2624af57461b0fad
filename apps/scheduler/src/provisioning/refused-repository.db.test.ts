import { expect, test } from '@jest/globals';
import { findJobsToLookUp } from '@paddock/db/jobs/look-ups';
import { findDueRepositories } from '@paddock/db/jobs/repositories';
import { findOverdueWorkers } from '@paddock/db/workers/overdue-workers';
import { findWorkerToStop } from '@paddock/db/workers/stopping-workers';
import { putInstallation } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { APP_ID } from '../scenes/settings.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const APP_IDS = [APP_ID];

/** As if a quarter of an hour had passed. */
async function passQuarter(): Promise<void> {
  await world.passRefused(15);
  await sql`update tasks set due_at = due_at - interval '15 minutes' where status = 'queued'`.execute(
    world.db,
  );
  await sql`update demand_keys set paused_until = paused_until - interval '15 minutes'`.execute(
    world.db,
  );
}

test('a repository that refuses us delays no other of its entity, for any time (C9, C11)', async () => {
  const { db, gitHub } = world;
  const sam = await world.addUser('sam', ['shut', 'open']);
  const [shut = 0, open = 0] = ['shut', 'open'].map((name) => sam.repositories.get(name));
  await putInstallation(db, {
    entity_id: sam.id,
    entity_type: 'User',
    login: 'sam',
    app_id: APP_ID,
    installation_id: sam.installationId,
    stated_at: minutesAgo(9_000),
    updated_at: minutesAgo(9_000),
  });
  await gitHub.failNext({
    path: '^/repos/sam/shut/',
    status: 403,
    body: { message: 'Resource not accessible by integration' },
    times: 1_000,
  });
  // One of them is the idle worker's.
  for (let n = 0; n < 2; n += 1) await world.queueJobOf(sam, 'shut');
  await world.queueJobOf(sam, 'open');
  await db
    .updateTable('jobs')
    .set({ lookup_due_at: new Date(0) })
    .execute();
  for (const [repo_id, full_name] of [
    [shut, 'sam/shut'],
    [open, 'sam/open'],
  ] as const) {
    const repository = {
      repo_id,
      full_name,
      entity_id: sam.id,
      app_id: APP_ID,
      active_at: new Date(),
      due_at: new Date(0),
    };
    await db.insertInto('repositories').values(repository).execute();
  }
  const times = {
    created_at: minutesAgo(60),
    pod_created_at: minutesAgo(60),
    running_at: minutesAgo(60),
  };
  const own = {
    entity_id: sam.id,
    entity_type: 'User',
    app_id: APP_ID,
    installation_id: sam.installationId,
  } as const;
  const idle = {
    ...own,
    ...times,
    status: 'running',
    pod_uid: 'idle',
    registration_started_at: minutesAgo(60),
    registered_at: minutesAgo(60),
  } as const;
  const { pod_name: idleThere } = await putWorker(db, { ...idle, scope_repo_id: open });
  await putWorker(db, { ...idle, scope_repo_id: shut });

  const servedNow = async () => ({
    lookUps: (await findJobsToLookUp(db, { batch: 9, secondLookMs: 1, appIds: APP_IDS })).map(
      ({ repoId }) => repoId,
    ),
    idle: (await findOverdueWorkers(db, { readingsApartMs: 0, appIds: APP_IDS, limit: 9 })).map(
      (one) => one.scopeRepoId,
    ),
    discovery: (
      await findDueRepositories(db, {
        most: 9,
        activeMs: 86_400_000,
        appIds: APP_IDS,
      })
    ).map(({ repoId }) => repoId),
    stop: (await findWorkerToStop(db, idleThere, APP_IDS))?.isRefused === false,
  });
  const onlyOpen = { lookUps: [open], idle: [open], discovery: [open], stop: true };

  await world.match();
  await world.runTasks();
  const seen = [await servedNow()];
  for (let quarter = 0; quarter < 3; quarter += 1) {
    await passQuarter();
    await world.match();
    await world.runTasks();
    seen.push(await servedNow());
  }
  expect(seen).toEqual([onlyOpen, onlyOpen, onlyOpen, onlyOpen]);
  // What was refused of it did not put off the end of its time.
  await passQuarter();
  expect(new Set((await servedNow()).discovery)).toEqual(new Set([shut, open]));
});
