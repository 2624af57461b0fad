import { type RefusedSubject, refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { GitHubFailure } from '@paddock/github/errors';

/** After this many objects in a row without a usable answer, a pass takes GitHub to be away. */
export const OUTAGES_AT_MOST = 3;

/** The subjects that a call depends on. `repoId` 0 or undefined: no repository. */
export interface Dependencies {
  readonly appId: number;
  readonly installationId: number;
  readonly repoId?: number;
}

/** GitHub's failures in one pass, which makes no call that would fail again. */
export interface PassFailures {
  /** True if another call would fail in this pass too. */
  isPointless(asked: Dependencies): boolean;
  /**
   * Returns the refused subject if other calls share it; the pass makes no further call about it.
   * Failures `about` the same object count as one outage. Without `about`, each counts.
   */
  note(asked: Dependencies, failure: GitHubFailure, about?: string): RefusedSubject | undefined;
  answered(): void;
}

export function createPassFailures(): PassFailures {
  const refused = new Set<string>();
  const withoutAnswer = new Set<string | symbol>();
  return {
    isPointless: (asked) =>
      withoutAnswer.size >= OUTAGES_AT_MOST ||
      SUBJECTS.some((subject) => refused.has(`${subject} ${idsOf(asked)[subject]}`)),
    note(asked, failure, about) {
      const { kind } = failure;
      // Each call checks by itself whether it has to wait.
      if (kind === 'rate_limited') return undefined;
      const isOutage = kind === 'unavailable' || kind === 'timeout' || kind === 'network';
      if (isOutage) withoutAnswer.add(about ?? Symbol('another object'));
      else withoutAnswer.clear();
      const ids = idsOf(asked);
      const subject = refusedSubject(failure);
      // A missing object says nothing about the repository's others.
      if (subject === undefined || (subject === 'repository' && kind === 'not_found'))
        return undefined;
      if (ids[subject] !== 0) refused.add(`${subject} ${ids[subject]}`);
      return subject;
    },
    answered() {
      withoutAnswer.clear();
    },
  };
}

const SUBJECTS: readonly RefusedSubject[] = ['app', 'entity', 'repository'];

const idsOf = ({
  appId,
  installationId,
  repoId = 0,
}: Dependencies): Record<RefusedSubject, number> => ({
  app: appId,
  entity: installationId,
  repository: repoId,
});
