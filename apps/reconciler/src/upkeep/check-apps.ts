import { recordAppAuthFailure } from '@paddock/db/entities/app-auth-failures';
import {
  type AppInstallation,
  findAppInstallations,
  repairInstallations,
} from '@paddock/db/entities/app-installations';
import type { InstallationToStore } from '@paddock/db/entities/installations';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { databaseTime } from '@paddock/db/schedules/schedules';
import type { Database, EntityType } from '@paddock/db/schema/tables';
import { compareInstallations } from '@paddock/domain/entities/compare-installations';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { findAppProblems } from '@paddock/domain/entities/find-app-problems';
import type { AppClient, GitHub } from '@paddock/github/connect';
import { classifyGitHubError } from '@paddock/github/errors';
import {
  findInstallation,
  getApp,
  type GitHubInstallation,
  listInstallations,
} from '@paddock/github/installations';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';

export interface CheckAppsOptions {
  db: Kysely<Database>;
  github: GitHub;
  events: Pick<ReconcilerEvents, 'appChecked' | 'appNotChecked' | 'tooManyUnlisted'>;
  /** The configured Apps. */
  appIds: readonly number[];
  /** If more installations are missing from an App's list, the list is ignored. */
  goneAtMost: number;
  /** Write nothing. */
  dryRun: boolean;
}

export interface CheckAppsCounts {
  apps: number;
  /** Apps for which GitHub did not answer. */
  unanswered: number;
  /** What the Apps lack, one sentence each. */
  problems: string[];
  /** The number of problems by App id. A gauge reads it from the newest pass's operation. */
  problemsOfApps: Record<number, number>;
  installations: number;
  /** Rows that differed from GitHub's list. */
  repaired: number;
  /** Installations that GitHub no longer knows. */
  gone: number;
  /** Until GitHub allows calls of every App again, in milliseconds; 0 without a wait. */
  waitMs: number;
}

/**
 * Checks each App's permissions and events, and repairs our rows of its installations by GitHub's
 * list.
 */
export async function checkApps(
  options: CheckAppsOptions,
  signal: AbortSignal,
): Promise<CheckAppsCounts> {
  const { db, github, events, appIds, dryRun } = options;
  const counts: CheckAppsCounts = {
    apps: 0,
    unanswered: 0,
    problems: [],
    problemsOfApps: {},
    installations: 0,
    repaired: 0,
    gone: 0,
    waitMs: 0,
  };
  const pools = (await currentPoolsDocument(db))?.document.pools ?? [];
  const atRepositories = pools.some(({ registration }) => registration === 'repository');
  for (const appId of appIds) {
    if (signal.aborted) break;
    // Read before asking GitHub: a delivery that comes meanwhile is newer and wins.
    const ours = {
      known: await findAppInstallations(db, appId),
      statedAt: (await databaseTime(db)).toISOString(),
      atRepositories,
    };
    const asked = await askAbout(github.asApp(appId, { signal }), ours, options).catch(
      (error: unknown) => classifyGitHubError(error),
    );
    if ('kind' in asked) {
      counts.unanswered++;
      if (asked.kind === 'rate_limited')
        counts.waitMs = Math.max(counts.waitMs, asked.retryAfterMs ?? 0);
      else events.appNotChecked(appId, asked);
      const { operation, message, status: httpStatus = 0 } = asked;
      if (isRefusal(asked) && !dryRun)
        await recordAppAuthFailure(db, { appId, operation, message, httpStatus });
      continue;
    }
    const { problems, installations, statements } = asked;
    if (!dryRun) {
      events.appChecked(appId, problems);
      await db.transaction().execute((trx) => repairInstallations(trx, statements));
    }
    counts.apps++;
    counts.problemsOfApps[appId] = problems.length;
    counts.problems.push(...problems.map((problem) => `App ${appId}: ${problem}`));
    counts.installations += installations;
    counts.gone += statements.filter(({ isDeleted }) => isDeleted).length;
    counts.repaired += statements.filter(({ isDeleted }) => !isDeleted).length;
  }
  return counts;
}

interface AppAnswer {
  problems: string[];
  installations: number;
  statements: InstallationToStore[];
}

/** Makes all calls about one App and derives what to write. Throws Octokit's errors. */
async function askAbout(
  app: AppClient,
  {
    known,
    statedAt,
    atRepositories,
  }: { known: readonly AppInstallation[]; statedAt: string; atRepositories: boolean },
  { events, goneAtMost }: CheckAppsOptions,
): Promise<AppAnswer> {
  const { appId } = app;
  const facts = await getApp(app);
  const all = await listInstallations(app);
  const listed = all.flatMap((one) =>
    one.entityType === 'Enterprise' ? [] : [{ ...one, entityType: one.entityType }],
  );
  const { changed, unlisted } = compareInstallations(
    listed.map((one) => ({
      ...one,
      installationId: one.id,
      entityId: one.entityId,
      isSuspended: one.suspendedAt !== null,
    })),
    known,
  );
  const statements: InstallationToStore[] = changed.map(
    ({ id: installationId, entityId, login, entityType, selection, suspendedAt }) => ({
      appId,
      installationId,
      entity: { id: entityId, login, type: entityType },
      repositorySelection: selection,
      suspendedAt,
      isDeleted: false,
      statedAt,
    }),
  );
  if (unlisted.length > goneAtMost) events.tooManyUnlisted(appId, unlisted.length);
  for (const { installationId, entityId, login, entityType, selection } of unlisted.length >
  goneAtMost
    ? []
    : unlisted) {
    if ((await findInstallation(app, { id: installationId })) !== undefined) continue;
    const entity = { id: entityId, login, type: entityType };
    statements.push({
      appId,
      installationId,
      entity,
      repositorySelection: selection,
      suspendedAt: null,
      isDeleted: true,
      statedAt,
    });
  }
  const on = (type: EntityType) =>
    listed.some((one: GitHubInstallation) => one.entityType === type);
  const problems = findAppProblems({
    ...facts,
    onOrganizations: on('Organization'),
    onUsers: on('User'),
    atRepositories,
  });
  return { problems, installations: all.length, statements };
}
