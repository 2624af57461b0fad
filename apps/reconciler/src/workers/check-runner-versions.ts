import type { Database } from '@paddock/db/schema/tables';
import {
  findRunnersToRead,
  type RunnerToRead,
  saveRunnerVersion,
  saveVersionEnd,
} from '@paddock/db/workers/runner-versions';
import type { GitHub } from '@paddock/github/connect';
import { findVersionEnd, type VersionEnd } from '@paddock/github/runners';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient } from '@paddock/kube/errors';
import { readRunnerVersion } from '@paddock/kube/runner-log';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { scopeToday } from './read-runners.ts';

export interface CheckRunnerVersionsOptions {
  readonly db: Kysely<Database>;
  readonly github: GitHub;
  readonly cluster: Cluster;
  readonly events: Pick<ReconcilerEvents, 'versionNotRead' | 'versionEndUnknown' | 'versionEnds'>;
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
  pass: Pass,
): Promise<CheckedVersionsCounts> {
  const { db, github, events } = options;
  const counts: CheckedVersionsCounts = { read: 0, unread: 0, asked: 0, unanswered: 0 };
  const ends = new Map<string, VersionEnd>();
  const askFor = createAskGitHub({
    db,
    github,
    pass,
    onUnanswered: ({ what }, failure) => events.versionEndUnknown(what, failure),
  });
  await pass.walk(await findRunnersToRead(db), {
    entityOf: ({ pool }) => pool,
    keyOf: ({ pool }) => pool,
    async visit(runner, turn) {
      const read = runner.isUnread ? await readVersion(options, runner, pass) : null;
      if (runner.isUnread) counts[read === null ? 'unread' : 'read'] += 1;
      if (read !== null) await saveRunnerVersion(db, { ...runner, version: read });
      const version = read ?? runner.version;
      const isRead = !runner.isUnread || read !== null;
      if (version === null || (version === runner.version && !runner.isUnasked)) return isRead;
      counts.asked += 1;
      const ask = askFor({ ...runner, repoId: runner.scopeRepoId }, turn);
      const end =
        ends.get(version) ??
        (await ask(runner.pool, async (client) => {
          const scope = await scopeToday(client, runner);
          return scope && ((await findVersionEnd(client, scope, version)) ?? NO_END);
        }));
      if (end === undefined) counts.unanswered += 1;
      else {
        ends.set(version, end);
        await noteEnd(options, runner.pool, version, end);
      }
      return isRead && end !== undefined;
    },
  });
  return counts;
}

/** GitHub does not know the version. */
const NO_END: VersionEnd = { endsAt: null };

async function readVersion(
  { cluster, events }: CheckRunnerVersionsOptions,
  { pool, podName: name, namespace }: RunnerToRead,
  pass: Pass,
): Promise<string | null> {
  const version = await readRunnerVersion(cluster, { namespace, name }, pass.signal);
  if (typeof version !== 'object') return version ?? null;
  events.versionNotRead(pool, name, version.unreadable);
  if (isTransient(version.unreadable)) await pass.isAway('cluster');
  return null;
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
