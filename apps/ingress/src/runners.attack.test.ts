import { expect, test } from '@jest/globals';
import { examplePayload, type JsonObject } from '@paddock/testing/signed-delivery';
import { putWorker } from '@paddock/testing/worker-rows';
import { signed } from './scenes/ingress.scene.ts';
import { useIngress } from './scenes/use-ingress.scene.ts';

const ACME = { id: 11, login: 'acme', type: 'Organization' };
const OUR_RUNNER = 12_345;
/**
 * An attacker's runner, registered at the attacker's repository under the name of one of our
 * workers.
 */
const THEIR_RUNNER = 777;

const { database, ingress } = useIngress();

const addWorker = (given: Parameters<typeof putWorker>[1] = {}) =>
  putWorker(database.db, {
    entity_id: ACME.id,
    k8s_pool: 'small',
    status: 'running',
    runner_id: OUR_RUNNER,
    ...given,
  });

interface Told {
  readonly id: number;
  readonly runner: string;
  readonly runnerId: number;
  readonly labels?: readonly string[];
  readonly owner?: JsonObject;
}

async function outcomeOf(
  action: 'in_progress' | 'completed',
  { id, runner, runnerId, labels = ['theirs'], owner = ACME }: Told,
) {
  const job = { id, labels: [...labels], runner_name: runner, runner_id: runnerId };
  const repository = { id: 4_242, private: true, owner };
  return (
    await ingress.deliver(
      await signed(
        'workflow_job',
        examplePayload('workflow_job', action, { workflow_job: job, repository }),
      ),
    )
  ).text;
}

const assigned = (podName: string) =>
  database.db
    .selectFrom('workers')
    .select(['assigned_job_id', 'assigned_at'])
    .where('pod_name', '=', podName)
    .executeTakeFirstOrThrow();
const UNASSIGNED = { assigned_job_id: null, assigned_at: null };
const podOf = async (jobId: number) =>
  (
    await database.db
      .selectFrom('jobs')
      .select('k8s_pod')
      .where('job_id', '=', jobId)
      .executeTakeFirst()
  )?.k8s_pod;

test('another repository’s runner of the same name binds no worker, with any labels (B7)', async () => {
  const { pod_name: runner } = await addWorker();
  const theirs = { runner, runnerId: THEIR_RUNNER };
  expect(await outcomeOf('in_progress', { id: 1, ...theirs })).toBe('ignored_no_label');
  expect(await outcomeOf('completed', { id: 1, ...theirs })).toBe('ignored_no_label');
  // One that our pool could serve has a row, as any other: it runs on their runner, and not on
  // ours.
  expect(await outcomeOf('in_progress', { id: 2, labels: ['linux'], ...theirs })).toBe(
    'job_stored',
  );
  expect(await podOf(2)).toBeNull();
  expect(await assigned(runner)).toEqual(UNASSIGNED);
  // GitHub gives ours a job, which is bound, and no word of theirs ends it.
  expect(
    await outcomeOf('in_progress', { id: 3, labels: ['linux'], runner, runnerId: OUR_RUNNER }),
  ).toBe('job_stored');
  expect(await outcomeOf('completed', { id: 2, labels: ['linux'], ...theirs })).toBe(
    'job_marked_completed',
  );
  expect(await podOf(3)).toBe(runner);
  expect(await assigned(runner)).toMatchObject({ assigned_job_id: 3 });
});

test('a worker that waits for its registration is bound by no name: nothing of it can run yet', async () => {
  const { pod_name: runner } = await addWorker({
    status: 'pending',
    registration_started_at: new Date(),
    runner_id: null,
  });
  expect(await outcomeOf('in_progress', { id: 11, runner, runnerId: THEIR_RUNNER })).toBe(
    'ignored_no_label',
  );
  expect(await assigned(runner)).toEqual(UNASSIGNED);
});

test('another entity’s job binds no worker, with its name and with its runner’s id', async () => {
  const { pod_name: runner } = await addWorker();
  const owner = { ...ACME, id: 12, login: 'other' };
  expect(await outcomeOf('in_progress', { id: 21, runner, runnerId: OUR_RUNNER, owner })).toBe(
    'ignored_no_label',
  );
  expect(await assigned(runner)).toEqual(UNASSIGNED);
});

test('a worker whose pod was adopted, so that its runner’s id is not known, is bound by its name', async () => {
  const { pod_name: runner } = await addWorker({ runner_id: null, pod_uid: 'adopted' });
  expect(await outcomeOf('in_progress', { id: 31, runner, runnerId: OUR_RUNNER })).toBe(
    'worker_bound',
  );
  expect(await assigned(runner)).toMatchObject({ assigned_job_id: 31 });
});
