import {
  findLeftRegistrations,
  type LeftRegistration,
  markRegistrationsGone,
} from '@paddock/db/workers/registrations';
import type { Database } from '@paddock/db/schema/tables';
import { countListable, findListableRunners } from '@paddock/db/workers/worker-stops';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { isUnused, runnerSays } from '@paddock/domain/workers/nothing-runs';
import { deleteRunner, findRunner, getRunner, listRunners } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { scopeToday } from '../scope-today.ts';

export interface RemoveRegistrationsOptions {
  db: Kysely<Database>;
  github: GitHub;
  events: Pick<
    ReconcilerEvents,
    'registrationRemoved' | 'registrationLeft' | 'registrationNotChecked'
  >;
  graceMs: number;
  /** Most registrations that one pass removes. */
  cap: number;
}

/** `removed` counts in a dry run those that would be removed. */
export interface RemovedRegistrationsCounts {
  removed: number;
  /** GitHub no longer knew the runner. */
  absent: number;
  /** Online or busy, so it may run a job; or GitHub's list cannot be complete. */
  left: number;
  failed: number;
}

/** Most registrations that one pass looks at. */
const MOST_LOOKS = 500;

/**
 * Removes the registrations that failed workers left at GitHub: offline, idle, and older than the
 * grace. Finds them by the runner's id, or by the worker's name without one.
 */
export async function removeRegistrations(
  options: RemoveRegistrationsOptions,
  pass: Pass,
): Promise<RemovedRegistrationsCounts> {
  const { db, github, events, graceMs, cap } = options;
  const { dryRun, resting: except } = pass;
  const counts: RemovedRegistrationsCounts = { removed: 0, absent: 0, left: 0, failed: 0 };
  const { appIds } = github;
  const registrations = await findLeftRegistrations(db, {
    graceMs,
    appIds,
    limit: MOST_LOOKS,
    except,
  });
  const askFor = createAskGitHub({
    db,
    github,
    pass,
    onUnanswered: ({ what }, failure) => events.registrationNotChecked(what, failure),
  });
  const trusted = new Map<string, boolean>();
  await pass.walk(registrations, {
    entityOf: ({ entityId }) => entityId,
    keyOf: ({ podName }) => podName,
    async visit(registration, turn) {
      turn.isUnasked = counts.removed >= cap;
      if (turn.isUnasked) return false;
      const { podName, runnerId, scopeRepoId, madeForJobId: jobId } = registration;
      const scopeKey = `${registration.entityId} ${scopeRepoId}`;
      // Without registered workers in a scope, an empty list may be complete.
      if (
        runnerId === null &&
        !trusted.has(scopeKey) &&
        (await countListable(db, registration)) === 0
      )
        trusted.set(scopeKey, true);
      // After three empty lists over an hour: one question for each registered runner, by its id.
      const areAllGone = async (client: InstallationClient, scope: RegistrationScope) => {
        for (const id of await findListableRunners(db, registration))
          if ((await getRunner(client, scope, id)) !== undefined) return false;
        return true;
      };
      const isTrusted = async (client: InstallationClient, scope: RegistrationScope) => {
        const is = trusted.get(scopeKey) ?? (await listRunners(client, scope)).length > 0;
        const isTrue = is || (turn.hasFailedLong && (await areAllGone(client, scope)));
        trusted.set(scopeKey, isTrue);
        return isTrue;
      };
      const ask = askFor({ ...registration, repoId: scopeRepoId, jobId }, turn);
      const result = await ask(podName, (client) =>
        removeIfIdle(client, registration, { dryRun, isTrusted }),
      );
      if (result === undefined) counts.failed++;
      else if (result === 'removed' || result === 'absent') {
        counts[result]++;
        if (!dryRun) await markRegistrationsGone(db, [podName]);
        if (result === 'removed' && !dryRun) events.registrationRemoved(podName);
        return true;
      } else {
        counts.left++;
        events.registrationLeft(podName, result.left);
      }
      return false;
    },
  });
  return counts;
}

interface Removal {
  readonly dryRun: boolean;
  /** False if GitHub lists no runners although ours are registered: then a missing one proves nothing. */
  readonly isTrusted: (client: InstallationClient, scope: RegistrationScope) => Promise<boolean>;
}

/**
 * `removed`: in a dry run, it would be. `absent`: there is none. `left`: why it stays. Undefined:
 * GitHub does not show us the repository.
 */
async function removeIfIdle(
  client: InstallationClient,
  registration: LeftRegistration,
  { dryRun, isTrusted }: Removal,
): Promise<'removed' | 'absent' | { readonly left: string } | undefined> {
  const scope = await scopeToday(client, registration);
  if (scope === undefined) return undefined;
  const { podName, runnerId } = registration;
  const runner =
    runnerId === null
      ? await findRunner(client, scope, podName)
      : await getRunner(client, scope, runnerId);
  if (runner === undefined && runnerId === null && !(await isTrusted(client, scope)))
    return { left: 'GitHub lists no runners although some are registered' };
  if (runner === undefined) return 'absent';
  if (!isUnused(runnerSays(runner)))
    return { left: `the runner is ${runner.online ? 'online' : 'busy'}` };
  if (dryRun) return 'removed';
  const result = await deleteRunner(client, scope, runner.id);
  switch (result) {
    case 'deleted':
      return 'removed';
    case 'absent':
      return 'absent';
    case 'busy':
      return { left: 'GitHub says that the runner runs a job' };
    default:
      return result satisfies never;
  }
}
