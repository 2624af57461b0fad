import { findUnservedKey, saveUnservedAccess } from '@paddock/db/workers/failing-keys';
import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import { classifyGitHubError } from '@paddock/github/errors';
import { findRunnerGroupAccess, type RunnerGroupAccess } from '@paddock/github/runner-groups';
import type { Handler } from '@paddock/queue/kind';
import { done, type Outcome } from '@paddock/queue/outcome';
import { awaitGitHub } from '../await-github.ts';
import { ifGitHubAway } from '../if-away.ts';
import type { Provisioning } from '../provisioning/provisioning.ts';

/**
 * Asks GitHub once which access the runner group of an unserved key gives, and stores the answer
 * for the person who must correct it. A refusal of GitHub is stored as well.
 */
export function createLookUpAccess({
  db,
  github,
  reach,
}: Pick<Provisioning, 'db' | 'github' | 'reach'>): Handler {
  return async (task, signal) => {
    const demandKey = Number(task.subject.id);
    const key = await findUnservedKey(db, demandKey, github.appIds);
    if (key === undefined) return done({ ended: 'the key is served again, or its entity is gone' });
    const write = async (access: string): Promise<Outcome> => {
      await saveUnservedAccess(db, demandKey, access);
      return done({ access });
    };
    if (key.scopeRepoId !== 0)
      return write('Its runners are registered at the repository itself, without a runner group.');
    if (key.runnerGroup === null) return write('Its pool is no longer in the configuration.');
    const client = github.asInstallation(key, { signal });
    let access: string;
    try {
      access = describeAccess(
        key.runnerGroup,
        await findRunnerGroupAccess(client, key.login, key.runnerGroup),
      );
    } catch (error) {
      const failure = classifyGitHubError(error);
      if (failure.kind === 'rate_limited') return awaitGitHub(failure);
      const away = await ifGitHubAway(reach, failure);
      if (away !== undefined) return away;
      if (refusedSubject(failure) === undefined) throw error;
      await recordRefusal(db, 'scheduler', { call: key, refusal: failure });
      return write(`GitHub does not answer: ${failure.message}`);
    }
    await endRefusals(db, key);
    return write(access);
  };
}

/** A sentence about a group's access, for a person who wonders why its runners get no jobs. */
export function describeAccess(name: string, access: RunnerGroupAccess | undefined): string {
  if (access === undefined)
    return `There is no runner group named ${name}: the runners are in the default group.`;
  const limits = [
    ...(access.visibility === 'selected' ? ['repositories that were selected for it'] : []),
    ...(access.visibility === 'private' ? ['private repositories'] : []),
    ...(access.visibility === 'all' && !access.allowsPublicRepositories
      ? ['repositories that are not public']
      : []),
    ...(access.workflows === null
      ? []
      : [`the workflows ${access.workflows.join(', ') || '(none)'}`]),
  ];
  if (limits.length === 0)
    return `The runner group ${access.name} takes jobs of all repositories and workflows: nothing is wrong with its access.`;
  return `The runner group ${access.name} takes jobs only of ${limits.join(', and only of ')}: see whether the waiting job is one of them.`;
}
