import { text } from 'node:stream/consumers';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { reconsiderJobs } from '@paddock/db/jobs/reconsider-jobs';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { deliveryToRecord } from '@paddock/testing/deliveries-to-record';
import type { Db } from '@paddock/db/schema/tables';
import { listenHttp } from '@paddock/runtime/http-server';
import type { JobTruth } from '@paddock/simulators/github/truth';
import { examplePools, putInstallation } from '@paddock/testing/demand-rows';
import type { JsonObject } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { noteRepositories } from './matching.scene.ts';
import { startSchedulerWorld } from './scheduler.scene.ts';
import { APP_ID } from './settings.scene.ts';
import { setStopScene } from './stop.scene.ts';

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

const REPOSITORIES = { acme: ['api', 'web'], globex: ['core'], sam: ['one', 'two'] } as const;
export type EntityKey = keyof typeof REPOSITORIES;
export const ENTITIES = ['acme', 'globex', 'sam'] as const;
const typeOf = (entity: EntityKey) => (entity === 'sam' ? 'User' : 'Organization');

/** A job that takes so long ends only when it is cancelled. */
export const ENDLESS_MS = 600_000;

export type Freedom = Awaited<ReturnType<typeof startFreedom>>;

/**
 * GitHub with random behaviour, two organisations and a user. Its deliveries go the way of ingress.
 * The test starts each part of the scheduler, and `heal` does the reconciler's work by hand.
 */
export async function startFreedom(seed: number) {
  const world = await startSchedulerWorld({ githubSeed: seed });
  const { db, gitHub } = world;
  const stops = await setStopScene(world, { unexplainedGraceMs: 600_000 });
  const ingress = await startRecordingIngress(db);
  await gitHub.setApp(APP_ID, { webhookUrl: ingress.url });
  await world.putPools(DOCUMENTS.all);

  /** The entities as they are now. */
  const now: Record<EntityKey, { id: number; login: string; installation?: number | undefined }> = {
    acme: { id: world.entityId, login: 'acme', installation: world.installationId },
    globex: { id: (await gitHub.addOrganization({ login: 'globex' })).id, login: 'globex' },
    sam: { id: (await gitHub.addUser({ login: 'sam' })).id, login: 'sam' },
  };
  for (const entity of ENTITIES) {
    for (const name of REPOSITORIES[entity])
      if (name !== 'api') await gitHub.addRepository({ owner: entity, name });
    now[entity].installation ??= (
      await gitHub.install({ appId: APP_ID, account: entity, announce: false })
    ).id;
    await putInstallation(db, {
      entity_id: now[entity].id,
      entity_type: typeOf(entity),
      login: entity,
      app_id: APP_ID,
      installation_id: now[entity].installation,
      stated_at: new Date(0),
    });
  }

  const repositoryOf = (entity: EntityKey, nth: number) => {
    const names = REPOSITORIES[entity];
    return `${now[entity].login}/${names[nth % names.length]}`;
  };
  const rename = async (entity: EntityKey, name: string) => {
    if (now[entity].login === name) return;
    await gitHub.renameAccount(now[entity].login, name);
    now[entity].login = name;
  };
  const activePods = async () =>
    (await stops.list()).filter(({ containersTerminated }) => !containersTerminated);

  const endless = new Set<number>();
  /** The acts of GitHub and of time that make a worker unnecessary. */
  const excuses = { cancelled: 0, graceEnded: 0 };

  return {
    ...world,
    excuses,
    alone: ingress.alone,
    /** The errors of deliveries that could not be recorded. */
    refusals: ingress.refusals,
    activePods,
    followPods: stops.follow,
    stopIdle: (podNames: readonly string[]) =>
      Promise.all(podNames.map((podName) => stops.askToStop(podName))),
    noteRepositories: () => noteRepositories(db),
    async queue(entity: EntityKey, nth: number, labels: readonly string[], durationMs: number) {
      const { id } = await gitHub.queueJob({ repo: repositoryOf(entity, nth), labels, durationMs });
      if (durationMs === ENDLESS_MS) endless.add(id);
    },
    async rerun(jobId: number) {
      const { id } = await gitHub.rerunJob(jobId);
      if (endless.has(jobId)) endless.add(id);
    },
    /** Cancels those endless jobs that run. */
    async endEndless() {
      for (const { id, status } of (await gitHub.truth()).jobs)
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
    async install(entity: EntityKey) {
      now[entity].installation ??= (
        await gitHub.install({ appId: APP_ID, account: now[entity].login })
      ).id;
    },
    async uninstall(entity: EntityKey) {
      const { installation } = now[entity];
      if (installation !== undefined) await gitHub.uninstall(installation);
      now[entity].installation = undefined;
    },
    /** The installation sees one of the entity's repositories only, or all again. */
    async select(entity: EntityKey, nth: number | 'all') {
      const { installation } = now[entity];
      if (installation === undefined) return;
      const seen = nth === 'all' ? nth : [repositoryOf(entity, nth)];
      await gitHub.selectRepositories(installation, seen);
    },
    rename: (entity: EntityKey) =>
      rename(entity, now[entity].login === entity ? `${entity}-renamed` : entity),
    /**
     * Gives the entity its first name again, and looks where the App is installed: deliveries of
     * names that change within a second are not enough.
     */
    async restoreName(entity: EntityKey) {
      await rename(entity, entity);
      await gitHub.settled();
      const installation = db.updateTable('installations').set({ login: entity });
      await installation.where('entity_id', '=', now[entity].id).execute();
    },
    /** As if the pauses of all failing keys, and the times of all refusals, were over. */
    async endPauses() {
      await world.endPauses();
      await world.endRefusedTimes();
    },
    /** No runner comes up just then: a minute outside of tests is longer than that. */
    async letTimePass() {
      await waitFor('runners to connect', async () => {
        const { runners } = await gitHub.truth();
        const live = new Set((await world.alive()).map((worker) => worker.pod_name));
        const started = new Set((await activePods()).map(({ name }) => name)).intersection(live);
        return !runners.some(({ name, state }) => state === 'registered' && started.has(name));
      });
      await stops.letTimePass(20);
    },
    /** Pool, entity and scope of all that is to be kept idle. */
    async warmPlaces(): Promise<string[]> {
      const known = db.selectFrom('repositories').select('repo_id');
      const one = await known.where('full_name', '=', 'sam/one').execute();
      const ofSam = one.map(({ repo_id: id }) => `linux ${now.sam.id} ${id}`);
      return [`linux ${now.acme.id} 0`, ...ofSam].toSorted();
    },
    /**
     * Puts a configuration in force, and looks at the jobs that no pool served before, as ingress
     * does.
     */
    configure: (document: keyof typeof DOCUMENTS) =>
      ingress.alone(async () => {
        await world.putPools(DOCUMENTS[document]);
        const pools = await currentPoolsDocument(db);
        if (pools !== undefined) await reconsiderJobs(db, pools, 24);
      }),
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
      const [login = ''] = job.repo.split('/');
      const entity = ENTITIES.find((key) => now[key].login === login);
      if (entity === undefined) throw new Error(`No entity is named ${login} now.`);
      await ingress.record('workflow_job', `look-up of ${job.id} ${job.status}`, {
        action: job.status === 'waiting' ? 'queued' : job.status,
        workflow_job: {
          id: job.id,
          run_id: job.runId,
          run_attempt: job.attempt,
          name: job.name,
          labels: [...job.labels],
          conclusion: job.conclusion,
          runner_name: job.runnerName,
        },
        repository: {
          id: job.repositoryId,
          full_name: job.repo,
          private: true,
          owner: { id: now[entity].id, login, type: typeOf(entity) },
        },
        installation: { id: now[entity].installation },
      });
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
      await ingress.close();
    },
  };
}

/**
 * An HTTP server on loopback that records deliveries as ingress does, one at a time. `alone` runs
 * something while no delivery is recorded.
 */
async function startRecordingIngress(db: Db) {
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(act: () => Promise<T>): Promise<T> => {
    const result = Promise.allSettled([last]).then(act);
    last = result;
    return result;
  };
  const record = (event: string, guid: string, body: JsonObject) =>
    alone(async () => {
      const pools = await currentPoolsDocument(db);
      if (pools === undefined) throw new Error('There is no pools document.');
      await recordDeliveries(db, [deliveryToRecord(event, body, APP_ID, { guid })], pools);
    });
  const refusals: unknown[] = [];
  const { port, close, server } = await listenHttp(
    (request, response) => {
      const { 'x-github-event': event, 'x-github-delivery': guid } = request.headers;
      text(request)
        .then((body) => record(String(event), String(guid), JSON.parse(body) as JsonObject))
        .then(
          () => response.writeHead(200).end(),
          (error: unknown) => {
            refusals.push(error);
            response.writeHead(500).end();
          },
        );
    },
    { port: 0, host: '127.0.0.1' },
  );
  return {
    url: `http://127.0.0.1:${port}/`,
    record,
    alone,
    refusals,
    close: () => {
      const closed = close();
      server.closeAllConnections();
      return closed;
    },
  };
}
