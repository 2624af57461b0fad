import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { putWorker } from '@paddock/testing/demand-rows';
import { configOf, jobDelivery, useIngress } from './scenes/ingress.scene.ts';

const config = configOf({
  pools: [
    { name: 'linux', labels: ['self-hosted', 'linux'] },
    {
      name: 'dind',
      labels: ['self-hosted', 'linux', 'docker'],
      runnerGroup: 'docker',
      containerMode: 'dind',
      entities: ['acme'],
      priority: 1,
    },
    {
      name: 'infra',
      labels: ['self-hosted', 'infra'],
      registration: 'repository',
      repositories: ['acme/infra'],
    },
  ],
});
const { database, ingress } = useIngress({ config });

const ACME = { id: 11, login: 'acme', type: 'Organization' };
const STRANGER = { id: 5_555, login: 'acme-evil', type: 'User' };
/** An entity that takes a login which another has given up. */
const THIEF = { id: 666, login: 'ACME', type: 'User' };

const of = (owner: typeof ACME, name: string, isPrivate = true) => ({
  id: owner.id * 100,
  full_name: `${owner.login}/${name}`,
  private: isPrivate,
  owner,
});
const API = of(ACME, 'api');

interface ToldJob extends JsonObject {
  readonly id: number;
  readonly labels: string[];
}
/** What comes of GitHub's word about a job. */
const tell = (
  action: 'queued' | 'in_progress' | 'completed',
  job: ToldJob,
  repository: JsonObject = API,
): Promise<string> => {
  const given = { runner_name: null, runner_id: null, ...job };
  const more = { repository, installation: { id: 31 } };
  return ingress.tell(jobDelivery(action, job.id, given, more));
};
const queued = (id: number, label: string, repository?: JsonObject) =>
  tell('queued', { id, labels: [label] }, repository);
const addWorker = (given: Parameters<typeof putWorker>[1]) =>
  putWorker(database.db, { status: 'running', entity_id: ACME.id, k8s_pool: 'linux', ...given });

/** On a worker whose runner has the number of the job. */
const begun = (id: number, runner: { pod_name: string }, label = 'linux') => ({
  id,
  labels: [label],
  runner_name: runner.pod_name,
  runner_id: id,
});

const misuses = () => ingress.metric('paddock_events_total{event="workerMisused"}');

describe('a stranger’s jobs', () => {
  test('a stranger’s label opens no pool that serves others, and no worker is wanted for it (B4)', async () => {
    expect([
      await queued(1, 'docker', of(STRANGER, 'api')),
      await queued(2, 'infra', of(ACME, 'fork-of-infra')),
      await queued(3, 'docker'),
      await queued(4, 'infra', of(ACME, 'infra')),
      await queued(5, 'linux', of(STRANGER, 'api')),
    ]).toEqual([
      'ignored_pool_closed',
      'ignored_pool_closed',
      'job_stored',
      'job_stored',
      'job_stored',
    ]);
    const demand = database.db.selectFrom('jobs').select(['job_id', 'k8s_pool']);
    expect(await demand.where('wants_worker', '=', true).orderBy('job_id').execute()).toEqual([
      { job_id: 3, k8s_pool: 'dind' },
      { job_id: 4, k8s_pool: 'infra' },
      { job_id: 5, k8s_pool: 'linux' },
    ]);
  });

  test('an entity that takes a freed login gets no job in a pool that names it (B4)', async () => {
    expect(await queued(6, 'docker')).toMatch(/^job_/);
    expect([
      await queued(7, 'docker', of(THIEF, 'api')),
      await queued(8, 'infra', of(THIEF, 'infra')),
      await queued(9, 'linux', of(THIEF, 'api')),
    ]).toEqual(['refused_entity', 'refused_entity', 'job_stored']);
    // Made for it in any way: that it runs there is reported.
    const misused = await addWorker({ k8s_pool: 'dind', runner_id: 9, entity_id: THIEF.id });
    expect(await tell('in_progress', begun(9, misused), of(THIEF, 'api'))).toBe('worker_misused');
    const used = await addWorker({ k8s_pool: 'dind', runner_id: 6 });
    expect(await tell('in_progress', begun(6, used, 'docker'))).toBe('job_marked_running');
  });

  test.each([
    ['of a public repository', 10, 'docker'],
    ['of a public repository, by labels that fit another pool', 11, 'linux'],
  ])(
    'a job %s that GitHub gave to a worker is reported, and the worker continues (B7, B10)',
    async (_what, id, label) => {
      const before = await misuses();
      const repository = of(ACME, 'public', false);
      const worker = await addWorker({ k8s_pool: 'dind', runner_id: id });
      const job = begun(id, worker, label);
      expect([
        await queued(id, label, repository),
        await tell('in_progress', job, repository),
        await tell('in_progress', { ...job, name: 'told again' }, repository),
      ]).toEqual(['ignored_public_repository', 'worker_misused', 'job_already_exists']);

      const rows = database.db.selectFrom('workers').selectAll();
      expect(await rows.where('pod_name', '=', worker.pod_name).execute()).toMatchObject([
        { assigned_job_id: id, status: 'running', stopping_at: null },
      ]);
      const events = database.db
        .selectFrom('installation_events')
        .select('job_id')
        .where('outcome', '=', 'worker_misused');
      expect(await events.where('job_id', '=', id).execute()).toHaveLength(1);
      expect(await misuses()).toBe(before + 1);
      await waitFor('the line of the log', () =>
        ingress.lines().some((line) => line.includes('"warn"') && line.includes(worker.pod_name)),
      );
    },
  );

  test('a job of another repository on a worker of a pool for some, and one in its own pool (B7, B10)', async () => {
    const misused = await addWorker({ k8s_pool: 'infra', runner_id: 21 });
    expect(await queued(21, 'linux')).toBe('job_stored');
    expect(await tell('in_progress', begun(21, misused))).toBe('worker_misused');
    const used = await addWorker({ runner_id: 22 });
    expect(await queued(22, 'linux')).toBe('job_stored');
    expect(await tell('in_progress', begun(22, used))).toBe('job_marked_running');
  });
});

const OUR_RUNNER = 12_345;
/**
 * An attacker's runner, registered at the attacker's repository under the name of one of our
 * workers.
 */
const THEIR_RUNNER = 777;

const told = (id: number, runner_name: string, runner_id: number, label = 'theirs') => ({
  id,
  labels: [label],
  runner_name,
  runner_id,
});
const assigned = (podName: string) =>
  database.db
    .selectFrom('workers')
    .select(['assigned_job_id', 'assigned_at'])
    .where('pod_name', '=', podName)
    .executeTakeFirstOrThrow();
const UNASSIGNED = { assigned_job_id: null, assigned_at: null };
const podOf = async (jobId: number) => {
  const jobs = database.db.selectFrom('jobs').select('k8s_pod');
  return (await jobs.where('job_id', '=', jobId).executeTakeFirst())?.k8s_pod;
};

describe('runners under our workers’ names', () => {
  test('another repository’s runner of the same name binds no worker, with any labels (B7)', async () => {
    const { pod_name: runner } = await addWorker({ runner_id: OUR_RUNNER });
    const theirs = told(101, runner, THEIR_RUNNER);
    const fitting = told(102, runner, THEIR_RUNNER, 'linux');
    expect(await tell('in_progress', theirs)).toBe('ignored_no_label');
    expect(await tell('completed', theirs)).toBe('ignored_no_label');
    // One that our pool could serve has a row, as any other: it runs on their runner, and not on
    // ours.
    expect(await tell('in_progress', fitting)).toBe('job_stored');
    expect(await podOf(102)).toBeNull();
    expect(await assigned(runner)).toEqual(UNASSIGNED);
    // GitHub gives ours a job, which is bound, and no word of theirs ends it.
    expect(await tell('in_progress', told(103, runner, OUR_RUNNER, 'linux'))).toBe('job_stored');
    expect(await tell('completed', fitting)).toBe('job_marked_completed');
    expect(await podOf(103)).toBe(runner);
    expect(await assigned(runner)).toMatchObject({ assigned_job_id: 103 });
  });

  test('a worker that waits for its registration is bound by no name: nothing of it can run yet', async () => {
    const registering = { status: 'pending', registration_started_at: new Date() } as const;
    const { pod_name: runner } = await addWorker(registering);
    expect(await tell('in_progress', told(111, runner, THEIR_RUNNER))).toBe('ignored_no_label');
    expect(await assigned(runner)).toEqual(UNASSIGNED);
  });

  test('another entity’s job binds no worker, with its name and with its runner’s id', async () => {
    const { pod_name: runner } = await addWorker({ runner_id: OUR_RUNNER });
    const job = told(121, runner, OUR_RUNNER);
    expect(await tell('in_progress', job, of(STRANGER, 'api'))).toBe('ignored_no_label');
    expect(await assigned(runner)).toEqual(UNASSIGNED);
  });

  test('a worker whose pod was adopted, so that its runner’s id is not known, is bound by its name', async () => {
    const { pod_name: runner } = await addWorker({ pod_uid: 'adopted' });
    expect(await tell('in_progress', told(131, runner, OUR_RUNNER))).toBe('worker_bound');
    expect(await assigned(runner)).toMatchObject({ assigned_job_id: 131 });
  });
});
