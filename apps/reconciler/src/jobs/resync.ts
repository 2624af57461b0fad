import {
  findInstallation,
  noteListedRepositories,
  noteResynced,
  readAnew,
} from '@paddock/db/jobs/repositories';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { databaseTime } from '@paddock/db/schedules/schedules';
import { lookUpJobsTask, DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { findRepositoryByName, listRepositories } from '@paddock/github/repositories';
import { done, type Outcome, poison } from '@paddock/queue/kind';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import { discoverRepository, listed } from './discover-repository.ts';
import { parseRepositoryName } from './discovered-job.ts';
import type { AskOne } from './list-runs.ts';

/** What a resync takes of its pass. */
type ResyncPass = Pick<Pass, 'task' | 'signal'>;

/**
 * Discovery in what a person names, without ETags: in a repository, by its name, at once and without
 * a budget, or in an installation, by GitHub's id of it. Throws Octokit's errors.
 */
export const resync = (context: SweepContext, pass: ResyncPass): Promise<Outcome> => {
  const { id } = pass.task.subject;
  return /^\d+$/.test(id)
    ? resyncInstallation(context, Number(id), pass.signal)
    : resyncRepository(context, id, pass);
};

/** Compares all unfinished runs of one repository with our rows. */
async function resyncRepository(
  context: SweepContext,
  fullName: string,
  { signal }: ResyncPass,
): Promise<Outcome> {
  const { db, github } = context;
  const name = parseRepositoryName(fullName);
  if (name === undefined) return poison(`${fullName} is not a repository: write owner/name`);
  const installation = await findInstallation(db, { login: name.owner }, github.appIds);
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
    context,
    { pools, ask, allowance, most: Infinity },
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
 * Lists an installation's repositories, and has discovery's next passes begin with its active ones,
 * in turn with other installations'. A repository is active after a push, or after a run that a
 * delivery or a look-up showed.
 */
async function resyncInstallation(
  { db, github, config: { activeMs } }: SweepContext,
  installationId: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const installation = await findInstallation(db, { installationId }, github.appIds);
  if (installation === undefined)
    return poison(`no App of ours has the installation ${installationId}, or it is suspended`);
  const now = (await databaseTime(db)).toISOString();
  const shown = await listRepositories(github.asInstallation(installation, { signal }));
  const repositories = shown.filter(({ canRun }) => canRun).map(listed);
  await noteListedRepositories(
    db,
    { ...installation, hasChanged: false, now },
    repositories,
    activeMs,
  );
  const active = await readAnew(db, installation.entityId, activeMs);
  return done({ repositories: shown.length, active }, [sweepTask(DISCOVER_JOBS)]);
}
