import type { Database } from '@paddock/db/schema/tables';
import {
  findRunnersToRead,
  type RunnerToRead,
  saveRunnerVersion,
  saveVersionEnd,
} from '@paddock/db/workers/runner-versions';
import type { GitHub } from '@paddock/github/connect';
import { classifyGitHubError } from '@paddock/github/errors';
import { findVersionEnd, type VersionEnd } from '@paddock/github/runner-versions';
import type { Cluster } from '@paddock/kube/connect';
import { readRunnerVersion } from '@paddock/kube/runner-version';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { scopeToday } from '../scope-today.ts';

export interface CheckRunnerVersionsOptions {
  readonly db: Kysely<Database>;
  readonly github: GitHub;
  readonly cluster: Cluster;
  readonly events: Pick<ReconcilerEvents, 'versionNotRead' | 'versionEndUnknown' | 'versionEnds'>;
  /** Write nothing. */
  readonly dryRun: boolean;
}

export interface CheckedVersionsCounts {
  /** Logs with a version. */
  read: number;
  /** Logs that could not be read, or have no version. */
  unread: number;
  /** Pools for which GitHub was asked when their version ends. */
  asked: number;
  /** Asked pools without an answer. */
  unanswered: number;
}

/** The log warns each day from here on: time enough to build a new image. */
const WARNED_DAYS = 21;

/**
 * Reads each pool's runner version from the log of its newest runner, since an image's tag proves
 * nothing. Asks GitHub once a day when that version ends. A failure concerns one pool.
 */
export async function checkRunnerVersions(
  options: CheckRunnerVersionsOptions,
  signal: AbortSignal,
): Promise<CheckedVersionsCounts> {
  const { db, dryRun } = options;
  const counts: CheckedVersionsCounts = { read: 0, unread: 0, asked: 0, unanswered: 0 };
  const ends = new Map<string, VersionEnd>();
  for (const runner of await findRunnersToRead(db)) {
    if (signal.aborted) break;
    const read = runner.isUnread ? await readVersion(options, runner, signal) : null;
    if (runner.isUnread) counts[read === null ? 'unread' : 'read'] += 1;
    if (read !== null && !dryRun) await saveRunnerVersion(db, { ...runner, version: read });
    const version = read ?? runner.version;
    if (version === null || (version === runner.version && !runner.isUnasked)) continue;
    counts.asked += 1;
    const end = ends.get(version) ?? (await askForEnd(options, runner, version, signal));
    if (end === undefined) counts.unanswered += 1;
    else {
      ends.set(version, end);
      if (!dryRun) await noteEnd(options, runner.pool, version, end);
    }
  }
  return counts;
}

async function readVersion(
  { cluster, events }: CheckRunnerVersionsOptions,
  runner: RunnerToRead,
  signal: AbortSignal,
): Promise<string | null> {
  const version = await readRunnerVersion(
    cluster,
    { namespace: runner.namespace, name: runner.podName },
    signal,
  );
  if (typeof version !== 'object') return version ?? null;
  events.versionNotRead(runner.pool, runner.podName, version.unreadable);
  return null;
}

/**
 * When GitHub stops serving the version; no end for an unknown one. Undefined: GitHub did not
 * answer.
 */
async function askForEnd(
  { github, events }: CheckRunnerVersionsOptions,
  runner: RunnerToRead,
  version: string,
  signal: AbortSignal,
): Promise<VersionEnd | undefined> {
  const { pool, login, scopeRepoId } = runner;
  try {
    const client = github.asInstallation(runner, { signal });
    const scope = await scopeToday(client, { scopeRepoId, login });
    if (scope !== undefined)
      return (await findVersionEnd(client, scope, version)) ?? { endsAt: null };
    events.versionEndUnknown(pool, version, undefined);
  } catch (error) {
    const failure = classifyGitHubError(error);
    if (failure.kind !== 'rate_limited') events.versionEndUnknown(pool, version, failure); // the call that GitHub asked to wait has logged it
  }
  return undefined;
}

async function noteEnd(
  { db, events }: CheckRunnerVersionsOptions,
  pool: string,
  version: string,
  { endsAt }: VersionEnd,
): Promise<void> {
  const daysLeft = await saveVersionEnd(db, { pool, version, endsAt });
  if (daysLeft !== null && daysLeft < WARNED_DAYS) events.versionEnds({ pool, version, daysLeft });
}
