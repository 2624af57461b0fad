import type { Database, Db } from '@paddock/db/schema/tables';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import type { GitHubFailure } from '@paddock/github/errors';
import {
  installationOf,
  type SmallWorld,
  startSmallWorld,
} from '@paddock/simulators/scenes/small-world.scene';
import type { TestDatabase } from '@paddock/testing/database';
import {
  minutesAgo,
  putInstallation,
  putJob,
  putPools,
  putWorker,
} from '@paddock/testing/demand-rows';
import { emptyAll } from '@paddock/testing/use-test-database';
import { type Insertable, sql, type Updateable } from 'kysely';
import { discoverJobs } from '../jobs/discover-jobs.ts';
import { lookUpJobs } from '../jobs/look-up-jobs.ts';
import {
  accountOf,
  type Given,
  outputOf,
  taskOf,
  usualRunners,
  useScene,
  usualSweeps,
} from './sweep.scene.ts';

type NewJob = Parameters<SmallWorld['github']['queueJob']>[0];
/** The row of demand_keys for the key of a job. */
export async function putReason(db: Db, jobId: number, waitReason: string): Promise<void> {
  await sql`
    insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, wait_reason, wait_since)
    select demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, 1, 0, ${waitReason}, now() from jobs where job_id = ${jobId}`.execute(
    db,
  );
}

/**
 * A simulated GitHub, whose deliveries all get lost, beside our rows, with passes that compare the
 * two. Installed: both entities of the world are known here, and were never listed.
 */
async function startJobsScene(database: TestDatabase, { isInstalled = false } = {}) {
  const { db } = database;
  await emptyAll(db);
  await putPools(db);
  const world = await startSmallWorld();
  const { organization, user } = world;
  if (isInstalled) {
    await putInstallation(db, installationOf(organization));
    await putInstallation(db, { ...installationOf(user), entity_type: 'User' });
  }
  const config = { discoverBudgetPercent: 10, readsOfMinute: 20, discoverListEveryMs: 21_600_000 };
  const { own, github, told, run, contextOf } = usualSweeps(database, world, { config });
  const { register, play, stopRunners } = usualRunners(world, github);
  const setJobs = (row: Updateable<Database['jobs']>) => db.updateTable('jobs').set(row).execute();
  return {
    db,
    own,
    world,
    github,
    told,
    run,
    contextOf,
    /** Kinds of the failures of questions. */
    unanswered: () =>
      told('notAnswered').map(
        ([, , failure]) => (failure as GitHubFailure | undefined)?.kind ?? 'invisible',
      ),
    /** A job at GitHub with a row here that is due to be looked up. Returns its id. */
    async addJob({
      job = {},
      row = {},
    }: { job?: Partial<NewJob>; row?: Partial<Insertable<Database['jobs']>> } = {}) {
      const truth = await world.github.queueJob({ repo: 'acme/api', labels: ['linux'], ...job });
      const owner = truth.repo.startsWith('mona/') ? user : organization;
      await putJob(db, {
        job_id: truth.id,
        run_id: truth.runId,
        run_attempt: truth.attempt,
        repo_id: truth.repositoryId,
        repo_full_name: truth.repo,
        ...accountOf(world, owner),
        lookup_due_at: new Date(0),
        ...row,
      });
      return truth.id;
    },
    /** Queues a job at GitHub that our rows do not have. Returns its id. */
    queue: async (repo: string, more: Partial<NewJob> = {}) =>
      (await world.github.queueJob({ repo, labels: ['linux'], ...more })).id,
    runOf: async (jobId: number) =>
      (await world.github.truth()).jobs.find(({ id }) => id === jobId)?.runId ?? 0,
    /**
     * One of our workers, which takes the next fitting job at GitHub and works until the scene
     * stops. Returns its name.
     */
    async startRunner(): Promise<string> {
      const { pod_name: podName } = await putWorker(db, {
        ...accountOf(world, organization),
        status: 'running',
        running_at: minutesAgo(1),
      });
      const { jitConfig, runnerId } = await register(podName);
      const ours = db.updateTable('workers').where('pod_name', '=', podName);
      await ours.set({ runner_id: runnerId }).execute();
      await play(podName, jitConfig);
      return podName;
    },
    lookUp: async (given?: Given) => outputOf(await run(lookUpJobs, given)),
    async discover({ pass = {}, ...given }: Given = {}) {
      const task = taskOf('schedule', DISCOVER_JOBS);
      return outputOf(await run(discoverJobs, { ...given, pass: { task, ...pass } }));
    },
    /** Of a repository, by its name, or of an installation, by its id. */
    resync: (id: string, given?: Given) =>
      run(discoverJobs, { ...given, pass: { task: taskOf('by hand', id) } }),
    setJobs,
    /** Has every job looked up in the next pass. */
    makeDue: () => setJobs({ lookup_due_at: new Date(0) }),
    setInstallation: (row: Updateable<Database['installations']>, login?: string) =>
      db
        .updateTable('installations')
        .set(row)
        .$if(login !== undefined, (query) => query.where('login', '=', login ?? ''))
        .execute(),
    /** As if the last readings of repositories had been `minutes` ago. */
    passMinutes: (minutes: number) =>
      sql`update repositories set due_at = due_at - ${minutes} * interval '1 minute',
        active_at = active_at - ${minutes} * interval '1 minute'`.execute(db),
    /** As if everything was seen at GitHub two minutes earlier, and all second looks were due. */
    async passTime() {
      const earlier = ['lookup_due_at', 'looked_up_at', 'seen_queued_at', 'seen_gone_at'].map(
        (column) => sql`${sql.ref(column)} = ${sql.ref(column)} - interval '2 minutes'`,
      );
      await sql`update jobs set ${sql.join(earlier)}`.execute(db);
    },
    /** What acme's installation has left of its calls, as we know; sets it at GitHub. */
    remaining: () => github.budgetOf(organization.installationId)?.remaining ?? Number.NaN,
    allowCalls: (remaining: number, limit = 5_000) =>
      world.github.setRateLimit({
        caller: { installationId: organization.installationId },
        resource: 'core',
        limit,
        remaining,
      }),
    row: (jobId: number) =>
      db.selectFrom('jobs').selectAll().where('job_id', '=', jobId).executeTakeFirstOrThrow(),
    jobIds: async () =>
      (await db.selectFrom('jobs').select('job_id').orderBy('job_id').execute()).map(
        ({ job_id }) => job_id,
      ),
    events() {
      const events = db.selectFrom('installation_events').select(['event', 'outcome', 'job_id']);
      return events.orderBy('id').execute();
    },
    calls: async (operation: string) => (await world.github.report()).calls[operation] ?? 0,
    async stop(): Promise<void> {
      await stopRunners();
      await world.github.stop();
    },
  };
}

export const useJobsScene = (database: TestDatabase) => useScene(() => startJobsScene(database));

export const useDiscoveryScene = (database: TestDatabase) =>
  useScene(() => startJobsScene(database, { isInstalled: true }));
