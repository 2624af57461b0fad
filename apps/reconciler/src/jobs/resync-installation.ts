import { findActiveRepositoryIds, findInstallationById } from '@paddock/db/jobs/repositories';
import { databaseTime } from '@paddock/db/schedules/schedules';
import type { Database } from '@paddock/db/schema/tables';
import type { GitHub } from '@paddock/github/connect';
import { type GitHubRepository, listRepositories } from '@paddock/github/repositories';
import type { Kysely } from 'kysely';

export interface ResyncInstallationOptions {
  db: Kysely<Database>;
  github: GitHub;
  /** The Apps that are configured here. */
  appIds: readonly number[];
  /** How long a repository stays active after its last run or push. */
  activeMs: number;
  /** Most repositories that it has resynced, those pushed to last. */
  most: number;
}

/** The repositories to resync, and how many there are. */
export interface InstallationToResync {
  readonly repositories: number;
  readonly active: number;
  readonly fullNames: readonly string[];
}

/**
 * Finds the active repositories of an installation: those that were pushed to lately, and those of
 * which a delivery or a look-up showed a run. Returns a sentence if the App cannot be used there.
 * Throws Octokit's errors.
 */
export async function resyncInstallation(
  { db, github, appIds, activeMs, most }: ResyncInstallationOptions,
  installationId: number,
  signal: AbortSignal,
): Promise<InstallationToResync | string> {
  const installation = await findInstallationById(db, installationId, appIds);
  if (installation === undefined)
    return `no App of ours has the installation ${installationId}, or it is suspended`;
  const since = (await databaseTime(db)).getTime() - activeMs;
  const known = new Set(await findActiveRepositoryIds(db, installation.entityId, activeMs));
  const listed = await listRepositories(github.asInstallation(installation, { signal }));
  const active = listed.filter(
    (one) => one.canRun && (known.has(one.id) || pushedAtMs(one) > since),
  );
  return {
    repositories: listed.length,
    active: active.length,
    fullNames: active
      .toSorted((a, b) => pushedAtMs(b) - pushedAtMs(a))
      .slice(0, most)
      .map(({ owner, name }) => `${owner}/${name}`.toLowerCase()),
  };
}

const pushedAtMs = ({ pushedAt }: GitHubRepository): number => Date.parse(pushedAt ?? '1970-01-01');
