import {
  findRunnersToRead,
  type RunnerToRead,
  saveRunnerVersion,
  saveVersionEnd,
} from '@paddock/db/workers/runner-versions';
import { findScope, findVersionEnd, type VersionEnd } from '@paddock/github/runners';
import { isUnanswered } from '@paddock/kube/errors';
import { readRunnerVersion } from '@paddock/kube/runner-log';
import { done, type Outcome } from '@paddock/queue/kind';
import { createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';

/** The log warns each day from here on: time enough to build a new image. */
const WARNED_DAYS = 21;

/**
 * Reads each pool's runner version from the log of its newest runner, since an image's tag proves
 * nothing. Asks GitHub once a day when that version ends. A failure concerns one pool.
 */
export async function checkRunnerVersions(context: SweepContext, pass: Pass): Promise<Outcome> {
  const { db, events } = context;
  const counts = {
    /** Logs with a version, and those that could not be read or have none. */
    read: 0,
    unread: 0,
    /** Pools for which GitHub was asked when their version ends, and those without an answer. */
    asked: 0,
    unanswered: 0,
  };
  const ends = new Map<string, VersionEnd>();
  const askFor = createAskGitHub(context, pass, ({ what }, failure) =>
    events.versionEndUnknown(what, failure),
  );
  await pass.walk(await findRunnersToRead(db, context.github.appIds), {
    entityOf: ({ pool }) => pool,
    keyOf: ({ pool }) => pool,
    async visit(runner, turn) {
      const read = runner.isUnread ? await readVersion(context, runner, pass) : null;
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
          const scope = await findScope(client, runner);
          return scope && ((await findVersionEnd(client, scope, version)) ?? NO_END);
        }));
      if (end === undefined) counts.unanswered += 1;
      else {
        ends.set(version, end);
        await noteEnd(context, runner.pool, version, end);
      }
      return isRead && end !== undefined;
    },
  });
  return done(counts);
}

/** GitHub does not know the version. */
const NO_END: VersionEnd = { endsAt: null };

async function readVersion(
  { cluster, events }: SweepContext,
  { pool, podName: name, namespace }: RunnerToRead,
  pass: Pass,
): Promise<string | null> {
  const version = await readRunnerVersion(cluster, { namespace, name }, pass.signal);
  if (typeof version !== 'object') return version ?? null;
  events.versionNotRead(pool, name, version.unreadable);
  if (isUnanswered(version.unreadable)) await pass.isAway('cluster');
  return null;
}

async function noteEnd(
  { db, events }: SweepContext,
  pool: string,
  version: string,
  { endsAt }: VersionEnd,
): Promise<void> {
  const daysLeft = await saveVersionEnd(db, { pool, version, endsAt });
  if (daysLeft !== null && daysLeft < WARNED_DAYS) events.versionEnds({ pool, version, daysLeft });
}
