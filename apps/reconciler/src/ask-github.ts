import { endRefusals, recordRefusal } from '@paddock/db/breakers/refusals';
import type { InstallationToAsk } from '@paddock/db/jobs/repositories';
import type { Noting } from '@paddock/db/breakers/note-failure';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { createPassFailures } from './pass-failures.ts';

/** A question that GitHub did not answer, and the installation it went through. */
export interface Unanswered {
  readonly what: string;
  readonly installationId: number;
}

export interface AskingOptions extends Noting {
  github: GitHub;
  /** Write nothing. */
  dryRun: boolean;
  /** Called for each unanswered question. Undefined failure: GitHub does not show us the object. */
  onUnanswered: (asked: Unanswered, failure: GitHubFailure | undefined) => void;
  signal: AbortSignal;
}

/** GitHub does not let us see the object: our row of the installation may be out of date. */
export const isHidden = (failure: GitHubFailure | undefined): boolean =>
  failure === undefined || isRefusal(failure);

/**
 * Resolves with the result of `ask`, which makes calls and writes nothing. Resolves with undefined
 * if that is undefined, failed, would fail again, or has to wait. Rejects with PostgreSQL's errors.
 * `about` is the object that `what` is a part of: failing parts of one object count as one outage.
 */
export type AskGitHub = <T>(
  whom: InstallationToAsk & { readonly repoId?: number },
  what: string,
  ask: (client: InstallationClient) => Promise<T | undefined>,
  about?: string,
) => Promise<T | undefined>;

/**
 * For one pass that asks GitHub about many objects. Records a refusal, and ends the recorded one
 * once GitHub answers.
 */
export function createAskGitHub({
  db,
  github,
  breakerRules,
  dryRun,
  onUnanswered,
  signal,
}: AskingOptions): AskGitHub {
  const failures = createPassFailures();
  return async (whom, what, ask, about) => {
    const { installationId } = whom;
    if (signal.aborted || failures.isPointless(whom)) return undefined;
    let isAsked = false;
    const client = github.asInstallation(whom, { signal, onCall: () => void (isAsked = true) });
    let answer: Awaited<ReturnType<typeof ask>>;
    try {
      answer = await ask(client);
    } catch (error) {
      if (signal.aborted) return undefined;
      const failure = classifyGitHubError(error);
      // The call that GitHub asked to wait has logged it.
      if (failure.kind === 'rate_limited') return undefined;
      onUnanswered({ what, installationId }, failure);
      const refused = failures.note(whom, failure, about);
      if (refused !== undefined && !dryRun)
        await recordRefusal({ db, breakerRules }, 'reconciler', { call: whom, refusal: failure });
      return undefined;
    }
    // `ask` may have made no call, for example without anything left to ask.
    if (!isAsked) return answer;
    failures.answered();
    // A hidden repository proves only that the App and its installation work.
    if (!dryRun) await endRefusals(db, answer === undefined ? { ...whom, repoId: 0 } : whom);
    if (answer === undefined) onUnanswered({ what, installationId }, undefined);
    return answer;
  };
}
