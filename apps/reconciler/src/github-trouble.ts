import { type RefusedSubject, refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { GitHubFailure } from '@paddock/github/errors';

/** So many objects in a row without a usable answer, and GitHub is taken to be away. */
export const OUTAGES_AT_MOST = 3;

/** What a call depends on. `repoId` 0 or undefined: it is about no repository. */
export interface Dependencies {
  readonly appId: number;
  readonly installationId: number;
  readonly repoId?: number;
}

/** What a pass has seen of GitHub's failures: it asks no more where it would only be refused again. */
export interface GitHubTrouble {
  /** True where another call is of no use in this pass. */
  isPointless(asked: Dependencies): boolean;
  /**
   * What the failure speaks of, if it is a refusal that others share; the rest of the pass leaves that alone. Failures `about` the same object
   * count as one outage; without it each is one.
   */
  note(asked: Dependencies, failure: GitHubFailure, about?: string): RefusedSubject | undefined;
  answered(): void;
}

export function createGitHubTrouble(): GitHubTrouble {
  const refused = new Set<string>();
  const withoutAnswer = new Set<string | symbol>();
  return {
    isPointless: (asked) =>
      withoutAnswer.size >= OUTAGES_AT_MOST || SUBJECTS.some((subject) => refused.has(`${subject} ${idsOf(asked)[subject]}`)),
    note(asked, failure, about) {
      const { kind } = failure;
      // Each call asks for itself whether it has to wait.
      if (kind === 'rate_limited') return undefined;
      const isOutage = kind === 'unavailable' || kind === 'timeout' || kind === 'network';
      if (isOutage) withoutAnswer.add(about ?? Symbol('an object of its own'));
      else withoutAnswer.clear();
      const ids = idsOf(asked);
      const subject = refusedSubject(failure);
      // What a repository does not have says nothing of its other objects.
      if (subject === undefined || (subject === 'repository' && kind === 'not_found')) return undefined;
      if (ids[subject] !== 0) refused.add(`${subject} ${ids[subject]}`);
      return subject;
    },
    answered() {
      withoutAnswer.clear();
    },
  };
}

const SUBJECTS: readonly RefusedSubject[] = ['app', 'entity', 'repository'];

const idsOf = ({ appId, installationId, repoId = 0 }: Dependencies): Record<RefusedSubject, number> => ({
  app: appId,
  entity: installationId,
  repository: repoId,
});
