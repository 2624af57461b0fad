import { endRefusals, recordRefusal, type RefusedCall } from '@paddock/db/entities/refusals';
import { isRefusal, refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { InstallationClient } from '@paddock/github/connect';
import { classifyGitHubError, type GitHubFailure, isUnanswered } from '@paddock/github/errors';
import type { Unanswered } from '../events.ts';
import type { SweepContext } from '../sweep.ts';
import type { Pass, Turn } from './pass.ts';

/** GitHub does not let us see the object: our row of the installation may be out of date. */
export const isHidden = (failure: GitHubFailure | undefined): boolean =>
  failure === undefined || isRefusal(failure);

/**
 * Resolves with the result of `call`, which makes calls and writes nothing. Resolves with undefined
 * if that is undefined, or if it failed; or if it was left out, because GitHub has asked us to wait,
 * has refused the like in this pass, or is away: then `turn` says so. Rejects with PostgreSQL's
 * errors.
 */
export type Ask = <T>(
  what: string,
  call: (client: InstallationClient) => Promise<T | undefined>,
) => Promise<T | undefined>;

/** Asks GitHub during the visit of one object, through an installation. */
export type AskFor = (
  whom: RefusedCall & Required<Pick<RefusedCall, 'entityId' | 'installationId'>>,
  turn: Turn,
) => Ask;

/**
 * For one pass that asks GitHub about many objects. Records a refusal, and ends the recorded one
 * once GitHub answers. Calls `onUnanswered` for each unanswered question; without a failure if
 * GitHub does not show us the object.
 */
export function createAskGitHub(
  { db, github }: SweepContext,
  { signal, dryRun, isAway }: Pass,
  onUnanswered: (asked: Unanswered, failure: GitHubFailure | undefined) => void,
): AskFor {
  const refused = new Set<string>();
  return (whom, turn) => async (what, call) => {
    const { installationId, appId, repoId = 0, deliveryGuid: correlationId } = whom;
    const ids = { app: appId, entity: installationId, repository: repoId };
    const isRefused = Object.entries(ids).some(([type, id]) => refused.has(`${type} ${id}`));
    if (signal.aborted || isRefused) return leftOut(turn);
    let isAsked = false;
    const client = github.asInstallation(whom, {
      signal,
      onCall: () => void (isAsked = true),
      correlationId,
    });
    let answer: Awaited<ReturnType<typeof call>>;
    try {
      answer = await call(client);
    } catch (error) {
      if (signal.aborted) return leftOut(turn);
      const failure = classifyGitHubError(error);
      // The call that GitHub asked to wait has logged it.
      if (failure.kind === 'rate_limited') return leftOut(turn);
      onUnanswered({ what, installationId }, failure);
      if (isUnanswered(failure) && (await isAway('github'))) return leftOut(turn);
      const subject = refusedSubject(failure);
      // A missing object says nothing about the repository's others.
      if (subject === undefined || (subject === 'repository' && failure.kind === 'not_found'))
        return undefined;
      if (ids[subject] !== 0) refused.add(`${subject} ${ids[subject]}`);
      if (!dryRun) await recordRefusal(db, 'reconciler', { call: whom, refusal: failure });
      return undefined;
    }
    // `call` may have made no call, for example without anything left to ask.
    if (!isAsked) return answer;
    // A hidden repository proves only that the App and its installation work.
    if (!dryRun) await endRefusals(db, answer === undefined ? { ...whom, repoId: 0 } : whom);
    if (answer === undefined) onUnanswered({ what, installationId }, undefined);
    return answer;
  };
}

const leftOut = (turn: Turn): undefined => void (turn.isUnasked = true);
