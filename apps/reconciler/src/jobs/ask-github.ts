import { recordAuthFailure } from '@paddock/db/accounts/auth-failures';
import type { InstallationToAsk } from '@paddock/db/jobs/repositories';
import type { Database } from '@paddock/db/schema/tables';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { createGitHubTrouble } from '../github-trouble.ts';

/** Something that GitHub was asked about, and through which installation. */
export interface Unanswered {
  readonly what: string;
  readonly installationId: number;
}

export interface AskingOptions {
  db: Kysely<Database>;
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
 * Resolves with what `ask` does; with undefined where that is undefined, failed, or would only fail again. `about` is the object of which
 * `what` is a part: failing parts of one object do not say that GitHub is away.
 */
export type AskGitHub = <T>(
  whom: InstallationToAsk,
  what: string,
  ask: () => Promise<T | undefined>,
  about?: string,
) => Promise<T | undefined>;

/** For one pass over many objects at GitHub, of which each is asked about alone. A refusal is written down, for the "why" (C9). */
export function createAskGitHub({ db, dryRun, onUnanswered, signal }: AskingOptions): AskGitHub {
  const trouble = createGitHubTrouble();
  return async (whom, what, ask, about) => {
    const { installationId } = whom;
    if (signal.aborted || trouble.isPointless(installationId)) return undefined;
    try {
      const answer = await ask();
      trouble.answered();
      if (answer === undefined) onUnanswered({ what, installationId }, undefined);
      return answer;
    } catch (error) {
      if (signal.aborted) return undefined;
      const failure = classifyGitHubError(error);
      onUnanswered({ what, installationId }, failure);
      if (trouble.note(installationId, failure, about) && !dryRun) await recordAuthFailure(db, 'reconciler', refusalOf(whom, failure));
      return undefined;
    }
  };
}

const refusalOf = (whom: InstallationToAsk, { operation, status = 0, message }: GitHubFailure) => ({
  operation,
  httpStatus: status,
  message,
  appId: whom.appId,
  installationId: whom.installationId,
  entityId: whom.entityId,
  entityType: whom.entityType,
  entityName: whom.login,
  jobId: null,
  deliveryGuid: null,
});
