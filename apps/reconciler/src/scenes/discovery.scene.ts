import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import type { TestDatabase } from '@paddock/testing/database';
import { putInstallation } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import {
  discoverJobs,
  type DiscoverJobsCounts,
  type DiscoverJobsOptions,
} from '../jobs/discover-jobs.ts';
import { resync, type ResyncOptions } from '../jobs/resync.ts';
import { type Given, githubIsAway, passOf } from './pass.scene.ts';
import { startJobsScene, type JobsScene } from './jobs.scene.ts';

/** Passes of discovery over the simulated GitHub, whose deliveries all get lost; for tests. */
export interface DiscoveryScene extends JobsScene {
  discover(more?: Given<DiscoverJobsOptions>): Promise<DiscoverJobsCounts>;
  /** Of a repository, by its name, or of an installation, by its id. */
  resync(id: string, more?: Partial<ResyncOptions>): ReturnType<typeof resync>;
  /** Queues a job at GitHub that our rows do not have. Returns its id. */
  queue(
    repo: string,
    more?: Partial<Parameters<JobsScene['world']['github']['queueJob']>[0]>,
  ): Promise<number>;
  /** As if the last looks had been `minutes` ago. */
  passMinutes(minutes: number): Promise<void>;
  jobIds(): Promise<number[]>;
}

/** Both entities of the world are known here as installations, and were never listed. */
export async function startDiscoveryScene(database: TestDatabase): Promise<DiscoveryScene> {
  const scene = await startJobsScene(database);
  const { db, own, world, github } = scene;
  await putInstallation(db, installationOf(world.organization));
  await putInstallation(db, { ...installationOf(world.user), entity_type: 'User' });
  const events: DiscoverJobsOptions['events'] = {
    jobsDiscovered: () => undefined,
    workersMisused: (stored) => {
      for (const { jobId, isMisused } of stored) if (isMisused) scene.misused.push(jobId);
    },
    jobsMisjudged: (jobIds) => void scene.misjudged.push(...jobIds),
    notAnswered: (_sweep, _asked, failure) =>
      void scene.unanswered.push(failure?.kind ?? 'invisible'),
  };
  const common = {
    db: own,
    github,
    events,
    appIds: [world.appId],
    turns: { everyMs: 300_000, activeMs: 86_400_000 },
  };
  const rules = {
    most: 20,
    budgetPercent: 10,
    listEveryMs: 21_600_000,
  };
  const { signal } = new AbortController();
  return {
    ...scene,
    discover: async ({ pass = {}, ...more } = {}) =>
      discoverJobs(
        { ...common, ...rules, ...more },
        await passOf(own, { isAway: githubIsAway(github), ...pass }),
      ),
    resync: (id, more) => {
      const task = { subject: { type: 'by hand', id, name: null }, payload: {} };
      return resync({ ...common, ...more }, { task, signal });
    },
    queue: async (repo, more = {}) =>
      (await world.github.queueJob({ repo, labels: ['linux'], ...more })).id,
    async passMinutes(minutes) {
      const interval = sql`${minutes} * interval '1 minute'`;
      await sql`update repositories set due_at = due_at - ${interval}, active_at = active_at - ${interval}`.execute(
        db,
      );
    },
    jobIds: async () =>
      (await db.selectFrom('jobs').select('job_id').orderBy('job_id').execute()).map(
        (job) => job.job_id,
      ),
  };
}
