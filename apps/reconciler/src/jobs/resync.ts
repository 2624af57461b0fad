import {
  findActiveRepositoryIds,
  findInstallation,
  noteResynced,
} from '@paddock/db/jobs/repositories';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { databaseTime } from '@paddock/db/schedules/schedules';
import { lookUpJobsTask } from '@paddock/domain/tasks/look-up-task';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { findRepositoryByName, listRepositories } from '@paddock/github/repositories';
import { done, type Outcome, poison } from '@paddock/queue/outcome';
import type { Pass } from '../passes/pass.ts';
import type { DiscoverJobsOptions } from './discover-jobs.ts';
import { discoverRepository } from './discover-repository.ts';
import type { AskOne } from './list-jobs-of-runs.ts';
import { parseRepositoryName } from './repository-name.ts';

export type ResyncOptions = Pick<
  DiscoverJobsOptions,
  'db' | 'github' | 'events' | 'appIds' | 'turns'
>;

/** What a resync takes of its pass. */
type ResyncPass = Pick<Pass, 'task' | 'signal'>;

/** Most repositories of an installation that one request has resynced: each costs some calls. */
const MOST_RESYNCS = 200;
/** Discovery's own passes, and what others ask for, come between them. */
const RESYNCS_APART_MS = 1_000;

/**
 * Discovery in what a person names, at once, without ETags or a budget. The subject is a repository,
 * by its name, or an installation, by GitHub's id of it. Throws Octokit's errors.
 */
export const resync = (
  options: ResyncOptions,
  pass: ResyncPass,
  most = MOST_RESYNCS,
): Promise<Outcome> => {
  const { id } = pass.task.subject;
  return /^\d+$/.test(id)
    ? resyncInstallation(options, Number(id), pass.signal, most)
    : resyncRepository(options, id, pass);
};

/** Compares all unfinished runs of one repository with our rows. */
async function resyncRepository(
  options: ResyncOptions,
  fullName: string,
  { signal }: ResyncPass,
): Promise<Outcome> {
  const { db, github, appIds } = options;
  const name = parseRepositoryName(fullName);
  if (name === undefined) return poison(`${fullName} is not a repository: write owner/name`);
  const installation = await findInstallation(db, { login: name.owner }, appIds);
  if (installation === undefined)
    return poison(
      `none of our Apps is installed on ${name.owner}, or its installation is suspended`,
    );
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return poison('no pools are loaded: start the scheduler');
  const client = github.asInstallation(installation, { signal });
  const repository = await findRepositoryByName(client, name);
  const invisible = poison(
    `GitHub does not show ${fullName} to the App: select the repository in its installation`,
  );
  if (repository === undefined) return invisible;
  const errors: unknown[] = [];
  const ask: AskOne = (_what, call) =>
    call(client).catch((error: unknown) => {
      errors.push(error);
      return undefined;
    });
  const allowance = { take: () => true, giveBack: () => undefined };
  const counts = await discoverRepository(
    { ...options, pools, ask, allowance, mostRuns: Infinity },
    {
      ...installation,
      repoId: repository.id,
      fullName: `${repository.owner}/${repository.name}`,
      seenBefore: {},
      isFullDue: true,
    },
  );
  // All that GitHub answered is written. A retry asks for the rest.
  if (errors.length > 0) throw errors[0];
  if (counts === undefined) return invisible;
  await noteResynced(db, repository.id);
  return done(counts, counts.inDoubt > 0 ? [lookUpJobsTask] : []);
}

/**
 * Enqueues a resync of each active repository of an installation. A repository is active after a push,
 * or after a run that a delivery or a look-up showed.
 */
async function resyncInstallation(
  { db, github, appIds, turns: { activeMs } }: ResyncOptions,
  installationId: number,
  signal: AbortSignal,
  most: number,
): Promise<Outcome> {
  const installation = await findInstallation(db, { installationId }, appIds);
  if (installation === undefined)
    return poison(`no App of ours has the installation ${installationId}, or it is suspended`);
  const since = (await databaseTime(db)).getTime() - activeMs;
  const known = new Set(await findActiveRepositoryIds(db, installation.entityId, activeMs));
  const listed = await listRepositories(github.asInstallation(installation, { signal }));
  const active = listed
    .map((one) => ({ ...one, pushedAtMs: Date.parse(one.pushedAt ?? '1970-01-01') }))
    .filter(({ canRun, id, pushedAtMs }) => canRun && (known.has(id) || pushedAtMs > since));
  const tasks = active
    .toSorted((a, b) => b.pushedAtMs - a.pushedAtMs)
    .slice(0, most)
    .map(({ owner, name }, nth) => ({
      kind: DISCOVER_JOBS,
      subject: { type: 'repository', id: `${owner}/${name}`.toLowerCase() },
      dueInMs: nth * RESYNCS_APART_MS,
    }));
  const counts = { repositories: listed.length, active: active.length, resyncs: tasks.length };
  return done(counts, tasks);
}
