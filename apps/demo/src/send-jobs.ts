import { pause } from '@paddock/runtime/pause';
import type { GitHubControl } from '@paddock/simulators/github/control';
import { OWNERS, type Owner, type PlannedJob } from './scenario.ts';

/**
 * Creates entities, repositories and installations without announcing them, as if they had existed
 * for years. Returns the installations by login.
 */
export async function furnish(
  github: GitHubControl,
  owners: readonly Owner[] = OWNERS,
): Promise<Map<string, number>> {
  const installations = new Map<string, number>();
  for (const { login, type, appId, repositories } of owners) {
    await (type === 'Organization' ? github.addOrganization({ login }) : github.addUser({ login }));
    for (const name of repositories)
      await github.addRepository({ owner: login, name, private: true });
    const { id } = await github.install({ appId, account: login });
    installations.set(login, id);
  }
  return installations;
}

const BATCH = 25;
const BATCH_EVERY_MS = 400;

/**
 * Queues everything in bursts and records the queued jobs. In between it queues jobs for
 * GitHub's machines, which need no worker.
 */
export async function queueJobs(
  github: GitHubControl,
  plan: readonly PlannedJob[],
  queued: Map<number, PlannedJob>,
  signal: AbortSignal,
): Promise<void> {
  for (let from = 0; from < plan.length && !signal.aborted; from += BATCH) {
    for (const job of plan.slice(from, from + BATCH)) {
      const { repo, labels, durationMs } = job;
      const { id } = await github.queueJob({ repo, labels, durationMs });
      queued.set(id, job);
    }
    await github.queueJob({ repo: 'acme/shop', labels: ['ubuntu-latest'], hosted: true });
    await pause(BATCH_EVERY_MS, signal);
  }
}

/** Runs the planned jobs again that have completed. */
export async function rerunCompleted(
  github: GitHubControl,
  queued: Map<number, PlannedJob>,
  completed: ReadonlySet<number>,
): Promise<void> {
  for (const [id, job] of queued) {
    if (!job.rerun || !completed.has(id)) continue;
    await github.rerunJob(id);
    queued.set(id, { ...job, rerun: false });
  }
}
