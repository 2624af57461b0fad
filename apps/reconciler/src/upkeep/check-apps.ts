import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import {
  type AppInstallation,
  findAppInstallations,
  type InstallationToStore,
  repairInstallation,
} from '@paddock/db/entities/installations';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { databaseTime } from '@paddock/db/schedules/schedules';
import { compareInstallations } from '@paddock/domain/entities/compare-installations';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { checkApp } from '@paddock/github/check-apps';
import type { AppClient } from '@paddock/github/connect';
import { classifyGitHubError, isUnanswered } from '@paddock/github/errors';
import { findInstallation, type GitHubInstallation } from '@paddock/github/installations';
import { done, type Outcome } from '@paddock/queue/kind';
import type { Pass, Turn } from '../passes/pass.ts';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import type { SweepContext } from '../sweep.ts';

/**
 * Checks each App as the services do, for its gauge and the operation's output, and repairs our rows
 * of its installations by GitHub's list. One that the list lacks is asked about by its id.
 */
export async function checkApps(context: SweepContext, pass: Pass): Promise<Outcome> {
  const { db, github, events, config } = context;
  const { signal } = pass;
  const problemsOfApps: Record<number, number> = {};
  const problemsFound: string[] = [];
  const counts = {
    apps: 0,
    /** Calls that GitHub did not answer. */
    unanswered: 0,
    /** What is wrong with the Apps, one sentence each. */
    problems: problemsFound,
    /** The number of problems by App id. A gauge reads it from the newest pass's operation. */
    problemsOfApps,
    installations: 0,
    /** Rows that differed from GitHub's list. */
    repaired: 0,
    /** Installations that GitHub no longer knows. */
    gone: 0,
  };
  /** Until GitHub allows calls of every App again, in milliseconds. */
  let waitMs = 0;
  const pools = (await currentPoolsDocument(db))?.document.pools ?? [];
  const atRepositories = pools.some(({ registration }) => registration === 'repository');
  const repair = (statement: InstallationToStore): Promise<void> =>
    db.transaction().execute((trx) => repairInstallation(trx, statement));
  /** Undefined: GitHub did not answer. */
  const ask = async <T>(appId: number, turn: Turn, call: (app: AppClient) => Promise<T>) => {
    try {
      return { answer: await call(github.asApp(appId, { signal })) };
    } catch (error) {
      if (signal.aborted) return undefined;
      const failure = classifyGitHubError(error);
      counts.unanswered++;
      turn.isUnasked = failure.kind === 'rate_limited';
      if (turn.isUnasked) waitMs = Math.max(waitMs, failure.retryAfterMs ?? 0);
      else events.appNotChecked(appId, failure);
      if (isUnanswered(failure)) turn.isUnasked = await pass.isAway('github');
      if (isRefusal(failure))
        await recordRefusal(db, 'reconciler', { call: { appId }, refusal: failure });
      return undefined;
    }
  };
  const toRepair: InstallationToStore[] = [];
  const toAsk: { appId: number; statedAt: string; one: AppInstallation }[] = [];
  await pass.walk(github.appIds, {
    entityOf: (appId) => appId,
    keyOf: (appId) => `app ${appId}`,
    async visit(appId, turn) {
      // Read before asking GitHub: a delivery that comes meanwhile is newer and wins.
      const known = await findAppInstallations(db, appId);
      const statedAt = (await databaseTime(db)).toISOString();
      const asked = await ask(appId, turn, (app) =>
        checkApp(app, { atRepositories, now: Date.now }),
      );
      if (asked === undefined) return false;
      const { problems, installations } = asked.answer;
      const { changed, unlisted } = compareInstallations(installations.flatMap(listed), known);
      await endRefusals(db, { appId });
      toRepair.push(
        ...changed.map(({ installationId, entity, selection, suspendedAt }) => {
          const said = { repositorySelection: selection, suspendedAt, isDeleted: false, statedAt };
          return Object.assign(said, { appId, installationId, entity });
        }),
      );
      counts.apps++;
      problemsOfApps[appId] = problems.length;
      problemsFound.push(...problems.map((problem) => `App ${appId}: ${problem}`));
      counts.installations += installations.length;
      const isTooMany = unlisted.length > config.installationsGoneAtMost;
      if (isTooMany) events.tooManyUnlisted(appId, unlisted.length);
      if (!isTooMany || turn.hasFailedLong)
        toAsk.push(...unlisted.map((one) => ({ appId, statedAt, one })));
      return !isTooMany;
    },
  });
  await pass.walk(toRepair, {
    entityOf: ({ entity }) => entity.id,
    keyOf: ({ installationId }) => `installation ${installationId}`,
    async visit(one) {
      await repair(one);
      counts.repaired++;
      return true;
    },
  });
  await pass.walk(toAsk, {
    entityOf: ({ one }) => one.entityId,
    keyOf: ({ one }) => `installation ${one.installationId}`,
    async visit({ appId, statedAt, one }, turn) {
      const { installationId, entityId: id, login, entityType: type, selection } = one;
      const asked = await ask(appId, turn, (app) => findInstallation(app, { id: installationId }));
      if (asked === undefined) return false;
      if (asked.answer !== undefined) return true;
      counts.gone++;
      const entity = { id, login, type };
      const said = { repositorySelection: selection, suspendedAt: null, isDeleted: true };
      await repair({ appId, installationId, entity, ...said, statedAt });
      return true;
    },
  });
  return done(counts, waitMs > 0 ? [{ ...sweepTask('check-apps'), dueInMs: waitMs }] : []);
}

/** As our rows have them, which have none of an enterprise. */
function listed(one: GitHubInstallation) {
  const { id: installationId, entityId, login, entityType: type, suspendedAt } = one;
  if (type === 'Enterprise') return [];
  const entity = { id: entityId, login, type };
  return [{ ...one, installationId, entity, isSuspended: suspendedAt !== null }];
}
