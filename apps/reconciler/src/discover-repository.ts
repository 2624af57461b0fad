import { askForLookUps } from '@paddock/db/note-look-ups';
import type { CurrentPools } from '@paddock/db/pools-documents';
import { recordFindings } from '@paddock/db/record-findings';
import { findKnownJobs, noteRepositoryLook, type RepositoryToLookAt } from '@paddock/db/repositories';
import type { Database } from '@paddock/db/tables';
import { judgeDiscoveredJob } from '@paddock/domain/judge-discovered-job';
import type { GitHub } from '@paddock/github/connect';
import { classifyGitHubError } from '@paddock/github/errors';
import { findRepository, type GitHubRepository } from '@paddock/github/repositories';
import type { RepositoryName } from '@paddock/github/scope';
import type { Kysely } from 'kysely';
import type { Allowance } from './allowance.ts';
import { findingOf, type FoundAt } from './discovered-job.ts';
import type { ReconcilerEvents } from './events.ts';
import { lookAtRepository, type RepositoryView } from './look-at-repository.ts';
import { parseRepositoryName } from './repository-name.ts';

export interface DiscoverRepositoryOptions {
  db: Kysely<Database>;
  github: GitHub;
  events: Pick<ReconcilerEvents, 'jobsDiscovered' | 'jobsMisjudged'>;
  pools: CurrentPools;
  allowance: Allowance;
  /** When the repository's next turn is. */
  everyMs: number;
  dryRun: boolean;
}

export interface RepositoryCounts {
  runs: number;
  jobs: number;
  /** Lists of runs that had not changed. */
  unchanged: number;
  /** Jobs that were news to us. */
  found: number;
  /** Jobs that are to be looked up: GitHub calls them queued, and our rows say otherwise. */
  doubted: number;
  isComplete: boolean;
}

/**
 * Compares a repository's unfinished runs with our rows, and writes what is news (E2). Undefined if GitHub does not show the repository.
 * Throws what Octokit throws.
 */
export async function discoverRepository(
  options: DiscoverRepositoryOptions,
  repository: RepositoryToLookAt,
  signal: AbortSignal,
): Promise<RepositoryCounts | undefined> {
  const { db, github, allowance, everyMs, dryRun } = options;
  const { repoId, entityId, appId, installationId } = repository;
  const client = github.asInstallation(appId, installationId, { signal });
  let today: GitHubRepository | undefined;
  const find = async () => (today ??= await findRepository(client, repoId));
  const look = (name: RepositoryName) => lookAtRepository(client, name, repository.etags, allowance);

  const lastName = parseRepositoryName(repository.fullName ?? '');
  let view: RepositoryView | undefined;
  if (lastName !== undefined) view = await look(lastName).catch(unlessNotFound);
  if (view === undefined) {
    const found = await find();
    if (found === undefined) return undefined;
    view = await look({ owner: found.owner, repo: found.name });
  }
  const known = await findKnownJobs(
    db,
    view.jobs.map(({ id }) => id),
  );
  const judged = view.jobs.map((job) => ({ job, verdict: judgeDiscoveredJob(known.get(job.id), job) }));
  const news = judged.flatMap(({ job, verdict }) => (verdict.kind === 'news' ? [{ job, action: verdict.action }] : []));
  const doubted = judged.filter(({ verdict }) => verdict.kind === 'doubt').map(({ job }) => job.id);
  let found = news.length;
  if (!dryRun) {
    // Whether it is public decides about its pool, and its name may be another by now: asked for only where something is to be written.
    const at = news.length === 0 ? undefined : await find();
    if (at !== undefined)
      found = await record(
        options,
        news.map(({ job, action }) => findingOf(job, action, foundAt(repository, at))),
      );
    await askForLookUps(db, doubted);
    const etags = view.isComplete ? view.etags : {};
    const fullName = today === undefined ? repository.fullName : fullNameOf(today);
    await noteRepositoryLook(db, { repoId, entityId, appId, fullName, isActive: view.runs > 0, etags }, everyMs);
  }
  const { runs, unchanged, isComplete } = view;
  return { runs, jobs: view.jobs.length, unchanged, found, doubted: doubted.length, isComplete };
}

/** Returns how many of them were news indeed. */
async function record(
  { db, pools, events }: DiscoverRepositoryOptions,
  findings: readonly ReturnType<typeof findingOf>[],
): Promise<number> {
  const results = await db.transaction().execute((trx) => recordFindings(trx, findings, pools));
  const changed = findings.filter(({ statement }) => results.get(statement.jobId)?.changed === true);
  events.jobsDiscovered(changed.map(({ event, statement }) => ({ event, jobId: statement.jobId })));
  const misjudged = changed
    .filter(({ statement }) => results.get(statement.jobId)?.before === 'failed')
    .map(({ statement }) => statement.jobId);
  if (misjudged.length > 0) events.jobsMisjudged(misjudged);
  return changed.length;
}

const foundAt = ({ entityId, login, entityType, repoId, appId, installationId }: RepositoryToLookAt, today: GitHubRepository): FoundAt => ({
  account: { id: entityId, login, type: entityType },
  repoId,
  repoFullName: fullNameOf(today),
  isPublic: !today.private,
  appId,
  installationId,
});

const fullNameOf = ({ owner, name }: GitHubRepository): string => `${owner}/${name}`;

/** The repository may have another name by now. */
function unlessNotFound(error: unknown): undefined {
  if (classifyGitHubError(error).kind === 'not_found') return undefined;
  throw error;
}
