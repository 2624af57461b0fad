import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { createWaits } from '@paddock/db/entities/waits';
import { connectSmallWorld } from '@paddock/github/scenes/connect-small-world.scene';
import { emptyTables } from '@paddock/testing/empty-tables';
import type { DoubtRules } from '@paddock/db/jobs/jobs-in-doubt';
import type { Database } from '@paddock/db/schema/tables';
import type { GitHub } from '@paddock/github/connect';
import { createJitConfig } from '@paddock/github/runners';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { type TestDatabase } from '@paddock/testing/database';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { type Given, githubIsAway, passOf } from './pass.scene.ts';
import { RULES } from './stuck-jobs.scene.ts';
import { lookUpJobs, type LookUpCounts, type LookUpJobsOptions } from '../jobs/look-up-jobs.ts';

type NewJob = Parameters<SmallWorld['github']['queueJob']>[0];
type JobRow = Partial<Insertable<Database['jobs']>>;

/** A simulated GitHub whose jobs have rows here, and passes that compare the two; for tests. */
export interface JobsScene {
  readonly db: Kysely<Database>;
  /** With the reconciler's rights. */
  readonly own: Kysely<Database>;
  readonly world: SmallWorld;
  readonly github: GitHub;
  /** The passes' reports: failures of runs by kind, misjudged jobs. */
  readonly unanswered: string[];
  readonly misjudged: number[];
  /** Stuck jobs that failed, and those whose recovery was counted. */
  readonly lost: number[];
  readonly recovered: number[];
  /** Jobs on workers whose pool does not serve them. */
  readonly misused: number[];
  /**
   * Queues a job at GitHub whose deliveries are lost, with a row here that is due to be looked up.
   * Returns its id.
   */
  addJob(given?: { job?: Partial<NewJob>; row?: JobRow }): Promise<number>;
  /**
   * One of our workers, which takes the next fitting job at GitHub and works until the scene stops.
   * Returns its name.
   */
  startRunner(): Promise<string>;
  lookUp(
    more?: Given<Omit<LookUpJobsOptions, 'doubts'>> & { doubts?: Partial<DoubtRules> },
  ): Promise<LookUpCounts>;
  /**
   * As if everything that was seen at GitHub had been seen two minutes earlier, and all second
   * looks were due.
   */
  passTime(): Promise<void>;
  row(jobId: number): Promise<JobState>;
  events(): Promise<{ event: string; outcome: string; job_id: number | null }[]>;
  calls(operation: string): Promise<number>;
  stop(): Promise<void>;
}

const STATE = [
  'status',
  'wants_worker',
  'conclusion',
  'runner_name',
  'k8s_pod',
  'requeues',
  'lookup_due_at',
  'misjudged',
] as const;
export type JobState = Pick<
  Selectable<Database['jobs']>,
  (typeof STATE)[number] | 'failure_info' | 'looked_up_at'
>;

const earlier = (column: string) =>
  sql`${sql.ref(column)} = ${sql.ref(column)} - interval '2 minutes'`;

export async function startJobsScene(database: TestDatabase): Promise<JobsScene> {
  const { db } = database;
  // The passes have the reconciler's rights; the test's own statements may do anything.
  const own = database.dbOf('reconciler');
  await emptyTables(db, [
    'jobs',
    'workers',
    'installation_events',
    'installations',
    'repositories',
    'demand_keys',
    'pools_documents',
    'apps',
  ]);
  await putPools(db, examplePools());
  const world = await startSmallWorld();
  const { appId, organization, user } = world;
  const github = connectSmallWorld(world, { waits: createWaits(own, () => undefined) });
  const unanswered: string[] = [];
  const misjudged: number[] = [];
  const lost: number[] = [];
  const recovered: number[] = [];
  const misused: number[] = [];
  const stopping = new AbortController();
  const runners: Promise<unknown>[] = [];
  const events: LookUpJobsOptions['events'] = {
    jobsRecovered: (jobIds) => void recovered.push(...jobIds),
    jobsFailedUnasked: (jobIds) => void lost.push(...jobIds),
    jobsLookedUp: () => undefined,
    notAnswered: (_sweep, _asked, failure) => void unanswered.push(failure?.kind ?? 'invisible'),
    joblessEnds: () => undefined,
    workersMisused: (stored) => {
      for (const { jobId, isMisused } of stored) if (isMisused) misused.push(jobId);
    },
    jobsMisjudged: (jobIds) => void misjudged.push(...jobIds),
  };
  return {
    db,
    own,
    world,
    github,
    unanswered,
    misjudged,
    lost,
    recovered,
    misused,
    async addJob({ job = {}, row = {} } = {}) {
      const truth = await world.github.queueJob({ repo: 'acme/api', labels: ['linux'], ...job });
      const owner = truth.repo.startsWith('mona/') ? user : organization;
      await putJob(db, {
        job_id: truth.id,
        run_id: truth.runId,
        run_attempt: truth.attempt,
        repo_id: truth.repositoryId,
        repo_full_name: truth.repo,
        entity_id: owner.id,
        entity_name: owner.login,
        entity_type: owner === user ? 'User' : 'Organization',
        app_id: appId,
        installation_id: owner.installationId,
        lookup_due_at: new Date(0),
        ...row,
      });
      return truth.id;
    },
    async startRunner() {
      const worker = await putWorker(db, {
        entity_id: organization.id,
        app_id: appId,
        installation_id: organization.installationId,
        status: 'running',
        running_at: minutesAgo(1),
      });
      const client = github.asInstallation(organization);
      const runner = { name: worker.pod_name, labels: ['linux'], runnerGroupId: 1 };
      const { jitConfig, runnerId } = await createJitConfig(
        client,
        { kind: 'organization', owner: 'acme' },
        runner,
      );
      await db
        .updateTable('workers')
        .set({ runner_id: runnerId })
        .where('pod_name', '=', worker.pod_name)
        .execute();
      runners.push(playRunner(jitConfig, stopping.signal));
      // One with a short job may have ended by now, and GitHub has forgotten it.
      await waitFor('the runner to have connected', async () =>
        (await world.github.truth()).runners.every(
          ({ name, state }) => name !== worker.pod_name || state !== 'registered',
        ),
      );
      return worker.pod_name;
    },
    lookUp: async ({ pass = {}, doubts = {}, ...more } = {}) =>
      lookUpJobs(
        {
          db: own,
          github,
          events,
          doubts: { ...RULES, ...doubts },
          batch: RULES.batch,
          failureRules: USUAL_FAILURE_RULES,
          budgetPercent: 25,
          secondLookMs: 60_000,
          longestLookMs: 21_600_000,
          retryMs: 60_000,
          ...more,
        },
        await passOf(own, { isAway: githubIsAway(github), ...pass }),
      ),
    async passTime() {
      await sql`update jobs set ${sql.join(['lookup_due_at', 'looked_up_at', 'seen_queued_at', 'seen_gone_at'].map(earlier))}`.execute(
        db,
      );
    },
    row: (jobId) =>
      db
        .selectFrom('jobs')
        .select([...STATE, 'failure_info', 'looked_up_at'])
        .where('job_id', '=', jobId)
        .executeTakeFirstOrThrow(),
    events: () =>
      db
        .selectFrom('installation_events')
        .select(['event', 'outcome', 'job_id'])
        .orderBy('id')
        .execute(),
    calls: async (operation) => (await world.github.report()).calls[operation] ?? 0,
    async stop() {
      stopping.abort();
      await Promise.all(runners);
      await world.github.stop();
    },
  };
}
