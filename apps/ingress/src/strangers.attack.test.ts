import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { putWorker } from '@paddock/testing/worker-rows';
import { jobDelivery, useIngress } from './scenes/ingress.scene.ts';

const CONFIG = `
github:
  apps: [{ id: 7, webhookSecret: { env: HOOK_SECRET } }]
pools:
  - { name: linux, labels: [self-hosted, linux], image: runner:1, namespace: runners }
  - { name: dind, labels: [self-hosted, linux, docker], image: runner:1, namespace: runners, runnerGroup: docker, containerMode: dind,
      entities: [acme], priority: 1 }
  - { name: infra, labels: [self-hosted, infra], image: runner:1, namespace: runners, registration: repository, repositories: [acme/infra] }
entities: { '*': {} }
`;
const ACME = { id: 11, login: 'acme', type: 'Organization' };

const of = (
  owner: JsonObject & { id: number; login: string },
  name: string,
  more: JsonObject = {},
) => ({
  id: owner.id * 100,
  full_name: `${owner.login}/${name}`,
  private: true,
  owner,
  ...more,
});
const begun = (id: number, runner: { pod_name: string }) => ({
  id,
  labels: ['linux'],
  runner_name: runner.pod_name,
  runner_id: id,
});

describe('a stranger’s jobs', () => {
  const STRANGER = { id: 5_555, login: 'acme-evil', type: 'User' };

  const { database, ingress } = useIngress({ config: CONFIG });

  const tell = async (
    action: 'queued' | 'in_progress',
    job: JsonObject & { id: number },
    repository: JsonObject,
  ): Promise<string> => {
    const given = { runner_name: null, runner_id: null, ...job };
    const more = { repository, installation: { id: 31 } };
    return (await ingress.deliver(await jobDelivery(action, job.id, given, more))).text;
  };
  const addWorker = (pool: string, runnerId: number, entity = ACME) =>
    putWorker(database.db, {
      status: 'running',
      entity_id: entity.id,
      runner_id: runnerId,
      k8s_pool: pool,
    });
  const demand = () =>
    database.db
      .selectFrom('jobs')
      .select(['job_id', 'k8s_pool'])
      .where('wants_worker', '=', true)
      .execute();

  test('a stranger’s label opens no pool that serves others, and no worker is wanted for it (B4)', async () => {
    expect(await tell('queued', { id: 1, labels: ['docker'] }, of(STRANGER, 'api'))).toBe(
      'ignored_pool_closed',
    );
    expect(await tell('queued', { id: 2, labels: ['infra'] }, of(ACME, 'fork-of-infra'))).toBe(
      'ignored_pool_closed',
    );
    expect(await demand()).toEqual([]);
    expect(await tell('queued', { id: 3, labels: ['docker'] }, of(ACME, 'api'))).toBe('job_stored');
    expect(await tell('queued', { id: 4, labels: ['infra'] }, of(ACME, 'infra'))).toBe(
      'job_stored',
    );
    expect(await tell('queued', { id: 5, labels: ['linux'] }, of(STRANGER, 'api'))).toBe(
      'job_stored',
    );
    expect(await demand()).toEqual([
      { job_id: 3, k8s_pool: 'dind' },
      { job_id: 4, k8s_pool: 'infra' },
      { job_id: 5, k8s_pool: 'linux' },
    ]);
  });

  test('an entity that takes a freed login gets no job in a pool that names it (B4)', async () => {
    const thief = { id: 666, login: 'ACME', type: 'User' };
    expect(await tell('queued', { id: 6, labels: ['docker'] }, of(ACME, 'api'))).toMatch(/^job_/);
    expect(await tell('queued', { id: 7, labels: ['docker'] }, of(thief, 'api'))).toBe(
      'refused_entity',
    );
    expect(await tell('queued', { id: 8, labels: ['infra'] }, of(thief, 'infra'))).toBe(
      'refused_entity',
    );
    expect(await tell('queued', { id: 9, labels: ['linux'] }, of(thief, 'api'))).toBe('job_stored');
    // Made for it in any way: that it runs there is reported.
    const misused = await addWorker('dind', 9, thief);
    expect(await tell('in_progress', begun(9, misused), of(thief, 'api'))).toBe('worker_misused');
    const used = await addWorker('dind', 6);
    expect(
      await tell('in_progress', { ...begun(6, used), labels: ['docker'] }, of(ACME, 'api')),
    ).toBe('job_marked_running');
  });

  test.each([
    ['of a public repository', 10, ['docker'], of(ACME, 'public', { private: false })],
    [
      'of a public repository, by labels that fit another pool',
      11,
      ['linux'],
      of(ACME, 'public', { private: false }),
    ],
  ])(
    'a job %s that GitHub gave to a worker is reported, and the worker continues (B7, B10)',
    async (_what, id, labels, repository) => {
      const before = await ingress.metric('paddock_events_total{event="workerMisused"}');
      const worker = await addWorker('dind', id);
      expect(await tell('queued', { id, labels }, repository)).toBe('ignored_public_repository');
      expect(await tell('in_progress', { ...begun(id, worker), labels }, repository)).toBe(
        'worker_misused',
      );
      expect(
        await tell('in_progress', { ...begun(id, worker), labels, name: 'told again' }, repository),
      ).toBe('job_already_exists');

      const row = await database.db
        .selectFrom('workers')
        .selectAll()
        .where('pod_name', '=', worker.pod_name)
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ assigned_job_id: id, status: 'running', stopping_at: null });
      const events = database.db
        .selectFrom('installation_events')
        .select('job_id')
        .where('outcome', '=', 'worker_misused');
      expect(await events.where('job_id', '=', id).execute()).toHaveLength(1);
      expect(await ingress.metric('paddock_events_total{event="workerMisused"}')).toBe(before + 1);
      await waitFor('the line of the log', () =>
        ingress.lines().some((line) => line.includes('"warn"') && line.includes(worker.pod_name)),
      );
    },
  );

  test('a job of another repository on a worker of a pool for some, and one in its own pool (B7, B10)', async () => {
    const misused = await addWorker('infra', 21);
    expect(await tell('queued', { id: 21, labels: ['linux'] }, of(ACME, 'api'))).toBe('job_stored');
    expect(await tell('in_progress', begun(21, misused), of(ACME, 'api'))).toBe('worker_misused');
    const used = await addWorker('linux', 22);
    expect(await tell('queued', { id: 22, labels: ['linux'] }, of(ACME, 'api'))).toBe('job_stored');
    expect(await tell('in_progress', begun(22, used), of(ACME, 'api'))).toBe('job_marked_running');
  });
});

describe('runners under our workers’ names', () => {
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
    const job = { labels: [...labels], runner_name: runner, runner_id: runnerId };
    const repository = { id: 4_242, owner };
    return (await ingress.deliver(await jobDelivery(action, id, job, { repository }))).text;
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
});
