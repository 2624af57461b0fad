import { endRefusals, recordRefusal } from '@paddock/db/breakers/refusals';
import type { InstallationToAsk } from '@paddock/db/jobs/repositories';
import type { Noting } from '@paddock/db/breakers/note-failure';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import { createGitHubTrouble } from './github-trouble.ts';

/** Something that GitHub was asked about, and through which installation. */
export interface Unanswered {
  readonly what: string;
  readonly installationId: number;
}

export interface AskingOptions extends Noting {
  github: GitHub;
  /** Nothing is written. */
  dryRun: boolean;
  /** Told of everything that GitHub did not answer; without a failure it was not shown to us. */
  onUnanswered: (asked: Unanswered, failure: GitHubFailure | undefined) => void;
  signal: AbortSignal;
}

/** GitHub does not let us see it: our row of the installation may be out of date (A12). */
export const isHidden = (failure: GitHubFailure | undefined): boolean =>
  failure === undefined || failure.kind === 'unauthorized' || failure.kind === 'forbidden' || failure.kind === 'not_found';

/**
 * Resolves with what `ask` does, which makes calls and writes nothing; with undefined where that is undefined, failed, would only fail again,
 * or has to wait. `about` is the object of which `what` is a part: failing parts of one object do not say that GitHub is away. Rejects with
 * PostgreSQL's errors.
 */
export type AskGitHub = <T>(
  whom: InstallationToAsk & { readonly repoId?: number },
  what: string,
  ask: (client: InstallationClient) => Promise<T | undefined>,
  about?: string,
) => Promise<T | undefined>;

/** For one pass over many objects at GitHub, with calls about one object each. Writes down a refusal (C9), and ends it with an answer. */
export function createAskGitHub({ db, github, breakerRules, dryRun, onUnanswered, signal }: AskingOptions): AskGitHub {
  const trouble = createGitHubTrouble();
  return async (whom, what, ask, about) => {
    const { installationId } = whom;
    if (signal.aborted || trouble.isPointless(whom)) return undefined;
    let isAsked = false;
    const client = github.asInstallation(whom, { signal, onCall: () => void (isAsked = true) });
    let answer: Awaited<ReturnType<typeof ask>>;
    try {
      answer = await ask(client);
    } catch (error) {
      if (signal.aborted) return undefined;
      const failure = classifyGitHubError(error);
      // The process that GitHub told to wait has logged it.
      if (failure.kind === 'rate_limited') return undefined;
      onUnanswered({ what, installationId }, failure);
      const isRefusal = trouble.note(whom, failure, about) !== undefined;
      if (isRefusal && !dryRun) await recordRefusal({ db, breakerRules }, 'reconciler', { call: whom, refusal: failure });
      return undefined;
    }
    // A look may find in what is known already that nothing is left to ask.
    if (!isAsked) return answer;
    trouble.answered();
    // That a repository is not shown proves that the App and its installation are in order, and no more.
    if (!dryRun) await endRefusals(db, answer === undefined ? { ...whom, repoId: 0 } : whom);
    if (answer === undefined) onUnanswered({ what, installationId }, undefined);
    return answer;
  };
}
