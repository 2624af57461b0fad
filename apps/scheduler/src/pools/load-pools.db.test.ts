import { beforeEach, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase } from '@paddock/db/connection/connect';
import { type CurrentPools, currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { ofJob } from '@paddock/testing/deliveries-to-record';
import { TEST_SCHEMA } from '@paddock/testing/database';
import { examplePools, putWorker } from '@paddock/testing/demand-rows';
import { startTunnel } from '@paddock/testing/tunnel';
import { useFolder } from '@paddock/testing/use-folder';
import { sql } from 'kysely';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { createPoolsLoader } from './load-pools.ts';

const NONE = { version: 1, document: examplePools({ pools: [] }) };
const yaml = (label: string) => `
github: { apps: [{ id: 7, webhookSecret: { env: HOOK_SECRET } }] }
pools: [{ name: small, labels: [self-hosted, ${label}], image: runner:1, namespace: runners }]
entities: { '*': {} }
`;

describe('the pools of the configuration file, as schedulers load them', () => {
  const world = useSchedulerWorld({ kubelet: false });
  const folder = useFolder();
  beforeEach(() => world.db.deleteFrom('pools_documents').execute());

  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  /** A replica that has read its file and put it in force. */
  async function startReplica(path: string, db = world.parts.db) {
    const refused: string[] = [];
    const unfit: string[] = [];
    const reconsidered: number[] = [];
    const pools = createPoolsLoader({
      db,
      cluster: world.cluster,
      path,
      refreshMs: 1_000,
      reconsiderHours: 48,
      events: {
        fileRefused: (problems) => refused.push(problems.join('; ')),
        fileAccepted: () => undefined,
        poolsInForce: () => undefined,
        unfitStopped: (workers) => unfit.push(...workers.map(({ podName }) => podName)),
        jobsReconsidered: (_version, jobs) => void reconsidered.push(jobs),
        poolsNotLoaded: (error) => {
          throw error;
        },
      },
    });
    await pools.once();
    return { pools, refused, reconsidered, unfit };
  }
  const inForce = () => currentPoolsDocument(world.db);
  const labels = async () => (await inForce())?.document.pools.map((pool) => pool.labels.join());

  /** Stores a queued job of the label "windows" as an ingress that judges by these pools does. */
  const record = (jobId: number, pools: CurrentPools | undefined) =>
    recordDeliveries(world.db, [ofJob('queued', jobId, { labels: ['windows'] })], pools ?? NONE);
  const versions = async () =>
    (await world.db.selectFrom('pools_documents').select('version').execute()).length;

  test('a changed file comes into force, and jobs that fit now are demand; what an ingress then judges by the old pools is so two looks later (B4)', async () => {
    const { pools, reconsidered } = await startReplica(write('paddock.yaml', yaml('linux')));
    const old = await inForce();
    expect(await record(900, old)).toEqual(['ignored_no_label']);
    write('paddock.yaml', yaml('windows'));
    await pools.once();
    expect(await labels()).toEqual(['self-hosted,windows']);
    expect(reconsidered).toEqual([0, 1]);

    await pools.once();
    // Ingress has not looked since, and commits its last judgement before our second look.
    expect(await record(901, old)).toEqual(['ignored_no_label']);
    for (let look = 1; look < 5; look++) await pools.once();
    expect(reconsidered).toEqual([0, 1, 1]);
    const jobs = world.db.selectFrom('jobs').select(['job_id', 'wants_worker']);
    expect(await jobs.orderBy('job_id').execute()).toEqual([
      { job_id: 900, wants_worker: true },
      { job_id: 901, wants_worker: true },
    ]);
    expect(await versions()).toBe(2);
  });

  test('idle workers that lack a label which their pool has got are stopped, and are no supply; others stay (B4, C2)', async () => {
    const linux = { k8s_pool: 'small', registered_labels: '["linux","self-hosted"]' };
    const put = async (given: object) =>
      (await putWorker(world.db, { namespace: 'runners', ...linux, ...given })).pod_name;
    const idle = await put({ status: 'running' });
    const surplus = await put({ stopping_at: new Date(), stop_reason: 'surplus' });
    await put({ status: 'running', assigned_at: new Date() });
    await put({ k8s_pool: 'other' });
    await put({ registered_labels: null });
    await put({ registered_labels: '["linux","new","self-hosted"]' });
    const path = write('paddock.yaml', yaml('linux'));
    const { pools, unfit } = await startReplica(path);
    expect(unfit).toEqual([]);
    write('paddock.yaml', yaml('linux, new'));
    await pools.once();
    expect(unfit.toSorted()).toEqual([idle, surplus].toSorted());
    const late = await put({ status: 'running' });
    for (let look = 1; look < 5; look++) await pools.once();
    expect(unfit.at(-1)).toBe(late);
    const stopping = world.db
      .selectFrom('workers')
      .select('stop_reason')
      .where('stopping_at', 'is not', null);
    expect(await stopping.execute()).toEqual(unfit.map(() => ({ stop_reason: 'pool_changed' })));
    const tasks = world.db
      .selectFrom('tasks')
      .select('subject_id')
      .where('kind', '=', 'stop-worker');
    expect((await tasks.execute()).map(({ subject_id: name }) => name).toSorted()).toEqual(
      unfit.toSorted(),
    );
  });

  test('workers without a pod are stopped where their pool has left the namespace; pods stay (B4, C2)', async () => {
    const path = write('paddock.yaml', yaml('linux'));
    const { pools, unfit } = await startReplica(path);
    const there = { k8s_pool: 'small', namespace: 'runners' };
    const { pod_name: reserved } = await putWorker(world.db, there);
    await putWorker(world.db, { ...there, pod_uid: 'a-uid' });
    await putWorker(world.db, { ...there, namespace: 'later' });
    await pools.once();
    expect(unfit).toEqual([]);
    write('paddock.yaml', yaml('linux').replace('namespace: runners', 'namespace: later'));
    await pools.once();
    expect(unfit).toEqual([reserved]);
  });

  test('idle workers of an organisation in another runner group than their pool has now are stopped (B4, C2)', async () => {
    const path = write('paddock.yaml', yaml('linux'));
    const { pools, unfit } = await startReplica(path);
    const pools_version = (await inForce())?.version ?? 0;
    const at = { namespace: 'runners', registered_at: new Date() };
    const made = { k8s_pool: 'small', pools_version, ...at };
    const { pod_name: idle } = await putWorker(world.db, made);
    await putWorker(world.db, { ...made, scope_repo_id: 5 });
    await putWorker(world.db, { ...made, registered_at: null });
    await pools.once();
    expect(unfit).toEqual([]);
    write('paddock.yaml', yaml('linux').replace('namespace: runners', '$&, runnerGroup: new'));
    await pools.once();
    expect(unfit).toEqual([idle]);
  });

  test.each([
    ['no YAML in it', 'pools: ['],
    ['nothing in it', ''],
    [
      'a Docker daemon for everybody',
      yaml('linux').replace('namespace: runners', '$&, containerMode: dind'),
    ],
  ])(
    'a file with %s is refused and reported once, and the pools in force stay (B4)',
    async (_what, content) => {
      const path = write('paddock.yaml', yaml('linux'));
      const { pools, refused } = await startReplica(path);
      write('paddock.yaml', content);
      await pools.once();
      await pools.once();
      expect(refused).toHaveLength(1);
      expect(pools.refusal()).toContain(`the pools loaded before stay in force: ${refused[0]}`);
      expect(refused[0]).toContain(path);
      expect(await labels()).toEqual(['linux,self-hosted']);
      expect(await versions()).toBe(1);

      write('paddock.yaml', yaml('macos'));
      await pools.once();
      expect(pools.refusal()).toBeUndefined();
      expect(await labels()).toEqual(['macos,self-hosted']);
    },
  );

  describe('a file whose pods the API server judges by a dry run', () => {
    const POD = { method: 'POST', path: '/namespaces/runners/pods$' };
    const unreadable = { ...POD, status: 400, reason: 'BadRequest', message: 'quantities must …' };

    test.each([
      ['refuses', { ...POD, status: 422, reason: 'Invalid', message: 'tolerations[0]: …' }],
      ['cannot read', unreadable],
    ])(
      '%s: it is refused with its words, and the pools in force stay (B4, H1)',
      async (_how, fault) => {
        const path = write('paddock.yaml', yaml('linux'));
        const { pools, refused } = await startReplica(path);
        world.kube.failNext(fault);
        write('paddock.yaml', yaml('windows'));
        await pools.once();
        expect(refused).toEqual([
          expect.stringMatching(/the cluster takes no pod of the pool small: .*…/),
        ]);
        expect(await labels()).toEqual(['linux,self-hosted']);
        expect(pools.refusal()).toContain('the pools loaded before stay in force');
      },
    );

    test.each([
      ['does not answer', { ...POD, status: 503 }],
      ['has a quota', { ...POD, status: 403, reason: 'Forbidden', message: 'exceeded quota' }],
      ['allows no dry run, of any pod', { ...unreadable, times: 2 }],
    ])('%s: it comes into force (B4)', async (_how, fault) => {
      world.kube.failNext(fault);
      const { refused } = await startReplica(write('paddock.yaml', yaml('linux')));
      expect(refused).toEqual([]);
      expect(await labels()).toEqual(['linux,self-hosted']);
    });
  });

  test('a file that changes while PostgreSQL is away comes into force afterwards (B4, B5)', async () => {
    const tunnel = await startTunnel(world.databaseUrl);
    const { db, close } = connectDatabase({
      url: tunnel.url,
      schema: TEST_SCHEMA,
      poolSize: 1,
      applicationName: 'pools',
    });
    const { pools } = await startReplica(write('paddock.yaml', yaml('linux')), db);
    await tunnel.cut();
    write('paddock.yaml', yaml('windows'));
    await expect(pools.once()).rejects.toMatchObject({ message: expect.any(String) });
    expect(await labels()).toEqual(['linux,self-hosted']);
    await tunnel.mend();
    await pools.once();
    expect(await labels()).toEqual(['self-hosted,windows']);
    await close();
    await tunnel.cut();
  });

  test('a changed file stays in force though PostgreSQL loses it again, as a standby does that was behind (B4, B5)', async () => {
    const path = write('paddock.yaml', yaml('linux'));
    const { pools } = await startReplica(path);
    const lose = () =>
      sql`delete from pools_documents where version = (select max(version) from pools_documents)`.execute(
        world.db,
      );
    write('paddock.yaml', yaml('windows'));
    await pools.once();
    await lose();
    await pools.once();
    expect(await labels()).toEqual(['self-hosted,windows']);
    await world.db.deleteFrom('pools_documents').execute();
    await pools.once();
    expect(await labels()).toEqual(['self-hosted,windows']);
    await pools.once();
    expect(await versions()).toBe(1);
  });

  test('a change that reaches a replica late overrules no newer one; a step back does (B4)', async () => {
    const [first, second] = [write('a.yaml', yaml('one')), write('b.yaml', yaml('one'))];
    const replicas = [await startReplica(first), await startReplica(second)];
    const bring = async (to: string, label: string) => {
      write(to, yaml(label));
      for (const { pools } of replicas) await pools.once();
      return labels();
    };
    await bring('a.yaml', 'two');
    await bring('a.yaml', 'three');
    expect(await bring('b.yaml', 'two')).toEqual(['self-hosted,three']);
    expect(await bring('b.yaml', 'three')).toEqual(['self-hosted,three']);
    expect(await bring('a.yaml', 'two')).toEqual(['self-hosted,two']);
    expect(await bring('b.yaml', 'two')).toEqual(['self-hosted,two']);
    expect(await versions()).toBe(4);
  });

  test('two replicas with different files do not contend: the file that was loaded last counts for both (B4)', async () => {
    const one = await startReplica(write('one.yaml', yaml('linux')));
    const two = await startReplica(write('two.yaml', yaml('windows')));
    for (let round = 0; round < 3; round++) {
      await one.pools.once();
      await two.pools.once();
    }
    expect(await labels()).toEqual(['self-hosted,windows']);
    expect(await versions()).toBe(2);
    write('one.yaml', yaml('macos'));
    await one.pools.once();
    await two.pools.once();
    expect(await labels()).toEqual(['macos,self-hosted']);
    expect(await versions()).toBe(3);
  });
});
