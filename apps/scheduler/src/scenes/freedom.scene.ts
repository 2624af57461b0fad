import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { reconsiderJobs } from '@paddock/db/jobs/reconsider-jobs';
import { findInstance } from '@paddock/db/instance';
import { findKnownPods } from '@paddock/db/workers/worker-pods';
import { listPods } from '@paddock/kube/pods';
import type { JobTruth } from '@paddock/simulators/github/truth';
import { examplePools, putInstallation } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { takeList } from '../following/follow-pods.ts';
import { noteRepositories } from './matching.scene.ts';
import { startRecordingIngress } from './recording-ingress.scene.ts';
import { setStopScene } from './stop.scene.ts';
import { NAMESPACE, startSchedulerWorld } from './scheduler.scene.ts';
import { APP_ID, FOLLOWING } from './settings.scene.ts';

/**
 * No cap is large, so that all of them bind now and then. A runner of `large` fits every job of
 * `linux`.
 */
export const CAPS = { entity: 4, linux: 5, large: 3, gpu: 3, gpuRepository: 1 };

/** One worker of `linux` is kept idle for an organisation, one for a repository. */
const WARM = ['acme', 'sam/one'].map((scope) => ({ scope, workers: 1 }));

const LINUX = { name: 'linux', labels: ['self-hosted', 'linux'], maxWorkers: CAPS.linux };
const LARGE = { name: 'large', labels: ['self-hosted', 'linux', 'large'], maxWorkers: CAPS.large };
const GPU = {
  name: 'gpu',
  labels: ['linux', 'gpu'],
  registration: 'repository' as const,
  maxWorkers: CAPS.gpu,
  maxWorkersPerRepository: CAPS.gpuRepository,
};
const CAPPED = { maxWorkers: CAPS.entity };

/**
 * The configuration: everything, or a part of it, so that existing runners get jobs of no
 * configured pool or entity.
 */
const DOCUMENTS = {
  all: examplePools({ pools: [{ ...LINUX, warm: WARM }, LARGE, GPU], entities: { '*': CAPPED } }),
  some: examplePools({ pools: [LINUX, GPU], entities: { acme: CAPPED, globex: CAPPED } }),
};

export const LABELS = [
  ['linux'],
  ['self-hosted', 'linux'],
  ['linux', 'large'],
  ['large'],
  ['gpu'],
] as const;
const REPOSITORIES = {
  acme: ['api', 'web'],
  globex: ['core'],
  sam: ['one', 'two'],
} as const;
/** A job that takes so long ends only when it is cancelled. */
export const ENDLESS_MS = 600_000;
export const ENTITIES = ['acme', 'globex', 'sam'] as const;
export type EntityKey = (typeof ENTITIES)[number];

export type Freedom = Awaited<ReturnType<typeof startFreedom>>;

/**
 * GitHub with random behaviour, two organisations and a user. Its deliveries go the way of ingress.
 * The test starts each part of the scheduler, and `heal` does the reconciler's work by hand.
 */
export async function startFreedom(seed: number) {
  const world = await startSchedulerWorld({ githubSeed: seed });
  const { db, gitHub, cluster } = world;
  const following = { ...world.parts, ...FOLLOWING, unexplainedGraceMs: 600_000 };
  const instance = await findInstance(db);

  const ingress = await startRecordingIngress(db);
  const { record, alone, refusals } = ingress;
  await gitHub.setApp(APP_ID, {
    webhookUrl: ingress.url,
  });

  const logins = { acme: 'acme', globex: 'globex', sam: 'sam' };
  const installations: Record<EntityKey, number | undefined> = {
    acme: world.installationId,
    globex: undefined,
    sam: undefined,
  };
  await gitHub.addRepository({ owner: 'acme', name: 'web' });
  const entityIds = {
    acme: world.entityId,
    globex: (await gitHub.addOrganization({ login: 'globex' })).id,
    sam: (await gitHub.addUser({ login: 'sam' })).id,
  };
  for (const entity of ['globex', 'sam'] as const) {
    for (const name of REPOSITORIES[entity]) await gitHub.addRepository({ owner: entity, name });
    installations[entity] = (
      await gitHub.install({ appId: APP_ID, account: entity, announce: false })
    ).id;
  }
  await world.putPools(DOCUMENTS.all);
  const stops = await setStopScene(world);
  for (const entity of ENTITIES) {
    const installation_id = installations[entity] ?? 0;
    const type = entity === 'sam' ? 'User' : 'Organization';
    await putInstallation(db, {
      entity_id: entityIds[entity],
      entity_type: type,
      login: entity,
      app_id: APP_ID,
      installation_id,
      stated_at: new Date(0),
    });
  }

  const entityOf = (login: string): EntityKey => {
    const found = ENTITIES.find((entity) => logins[entity] === login);
    if (found === undefined) throw new Error(`No entity is named ${login} now.`);
    return found;
  };
  const repositoryOf = (entity: EntityKey, nth: number) => {
    const names = REPOSITORIES[entity];
    return `${logins[entity]}/${names[nth % names.length]}`;
  };
  const install = async (entity: EntityKey) => {
    installations[entity] ??= (await gitHub.install({ appId: APP_ID, account: logins[entity] })).id;
  };
  const rename = async (entity: EntityKey, name: string) => {
    if (logins[entity] === name) return;
    await gitHub.renameAccount(logins[entity], name);
    logins[entity] = name;
  };
  const activePods = async () =>
    (await listPods(cluster, { namespace: NAMESPACE, instance })).pods.filter(
      (pod) => !pod.containersTerminated,
    );

  const endless = new Set<number>();

  /** The acts of GitHub and of time that make a worker unnecessary. */
  const excuses = { cancelled: 0, graceEnded: 0 };

  return {
    world,
    refusals,
    excuses,
    alone,
    activePods,
    install,
    async queue(entity: EntityKey, nth: number, labels: readonly string[], durationMs: number) {
      const { id } = await gitHub.queueJob({
        repo: repositoryOf(entity, nth),
        labels,
        durationMs,
      });
      if (durationMs === ENDLESS_MS) endless.add(id);
    },
    async rerun(jobId: number) {
      const { id } = await gitHub.rerunJob(jobId);
      if (endless.has(jobId)) endless.add(id);
    },
    /** Cancels those endless jobs that run. */
    async endEndless() {
      const { jobs } = await gitHub.truth();
      for (const { id, status } of jobs)
        if (status === 'in_progress' && endless.has(id)) await gitHub.cancelJob(id);
    },
    async cancel(jobId: number) {
      const { runnerName } = await gitHub.cancelJob(jobId);
      // Any worker made for it before we knew of it.
      if (runnerName === null) excuses.cancelled += 1;
    },
    /** We learn too late of the jobs of runners with an unexplained end. */
    async endGrace() {
      const { numUpdatedRows } = await db
        .updateTable('workers')
        .set({ unexplained_until: new Date(0) })
        .where('unexplained_until', '>', sql<Date>`now()`)
        .executeTakeFirst();
      excuses.graceEnded += Number(numUpdatedRows);
    },
    async uninstall(entity: EntityKey) {
      const id = installations[entity];
      if (id !== undefined) await gitHub.uninstall(id);
      installations[entity] = undefined;
    },
    /** The installation sees one of the entity's repositories only, or all again. */
    async select(entity: EntityKey, nth: number | 'all') {
      const id = installations[entity];
      if (id !== undefined)
        await gitHub.selectRepositories(id, nth === 'all' ? 'all' : [repositoryOf(entity, nth)]);
    },
    rename: (entity: EntityKey) =>
      rename(entity, logins[entity] === entity ? `${entity}-renamed` : entity),
    /**
     * Gives the entity its first name again, and looks where the App is installed: deliveries of
     * names that change within a second are not enough.
     */
    async restoreName(entity: EntityKey) {
      await rename(entity, entity);
      await gitHub.settled();
      await db
        .updateTable('installations')
        .set({ login: entity })
        .where('entity_id', '=', entityIds[entity])
        .execute();
    },
    /** As if the pauses of all failing keys, and the times of all refusals, were over. */
    async endPauses() {
      await world.endPauses();
      await world.endRefusedTimes();
    },
    stopIdle: (podNames: readonly string[]) =>
      Promise.all(podNames.map((podName) => stops.askToStop(podName))),
    /** No runner comes up just then: a minute outside of tests is longer than that. */
    async letTimePass() {
      await waitFor('runners to connect', async () => {
        const { runners } = await gitHub.truth();
        const live = await db
          .selectFrom('workers')
          .select('pod_name')
          .where('status', 'in', ['pending', 'running'])
          .execute();
        const started = new Set(
          (await activePods())
            .map(({ name }) => name)
            .filter((name) => live.some((row) => row.pod_name === name)),
        );
        return !runners.some(({ name, state }) => state === 'registered' && started.has(name));
      });
      await stops.letTimePass(20);
    },
    noteRepositories: () => noteRepositories(db),
    /** Pool, entity and scope of all that is to be kept idle. */
    async warmPlaces(): Promise<string[]> {
      const known = await db
        .selectFrom('repositories')
        .select('repo_id')
        .where('full_name', '=', 'sam/one')
        .execute();
      return [
        `linux ${entityIds.acme} 0`,
        ...known.map(({ repo_id: id }) => `linux ${entityIds.sam} ${id}`),
      ].toSorted();
    },
    /**
     * Puts a configuration in force, and looks at the jobs that no pool served before, as ingress
     * does.
     */
    configure: (document: keyof typeof DOCUMENTS) =>
      alone(async () => {
        await world.putPools(DOCUMENTS[document]);
        const pools = await currentPoolsDocument(db);
        if (pools !== undefined) await reconsiderJobs(db, pools, 24);
      }),
    /** The cluster's list of pods, as the follower takes it. */
    async followPods() {
      const known = await findKnownPods(db, NAMESPACE);
      const { pods } = await listPods(cluster, { namespace: NAMESPACE, instance });
      await takeList(following, NAMESPACE, pods, known);
    },
    /** Asks GitHub to deliver again all deliveries that never arrived (E1). */
    async redeliver() {
      const { deliveries } = await gitHub.truth();
      const { octokit } = world.github.asApp(APP_ID);
      for (const attempts of Map.groupBy(deliveries, ({ guid }) => guid).values()) {
        if (attempts.some(({ statusCode }) => statusCode === 200)) continue;
        await octokit.request(`POST /app/hook/deliveries/${attempts.at(-1)?.id ?? ''}/attempts`);
      }
      await gitHub.settled();
    },
    /** GitHub's answer about the job, for events that were never made (E2, E4). */
    async lookUp(job: JobTruth) {
      const action = job.status === 'queued' || job.status === 'waiting' ? 'queued' : job.status;
      const [login = ''] = job.repo.split('/');
      const entity = entityOf(login);
      const owner = {
        id: entityIds[entity],
        login,
        type: entity === 'sam' ? 'User' : 'Organization',
      };
      const body = {
        action,
        workflow_job: {
          id: job.id,
          run_id: job.runId,
          run_attempt: job.attempt,
          name: job.name,
          labels: job.labels,
          conclusion: job.conclusion,
          runner_name: job.runnerName,
        },
        repository: { id: job.repositoryId, full_name: job.repo, private: true, owner },
        installation: { id: installations[entity] },
      };
      await record('workflow_job', `look-up of ${job.id} ${job.status}`, JSON.stringify(body));
    },
    /** Asks for the stop of a worker whose runner works, or at least could. */
    async askToStop(nth: number) {
      const { runners } = await gitHub.truth();
      const busy = runners.filter(({ state }) => state === 'busy');
      const connected = busy.length > 0 ? busy : runners.filter(({ state }) => state === 'idle');
      const runner = connected[nth % Math.max(connected.length, 1)];
      if (runner !== undefined) await stops.askToStop(runner.name);
    },
    async stop() {
      await world.stop();
      await ingress.stop();
    },
  };
}
