import { recordAuthFailure } from '@paddock/db/accounts/auth-failures';
import type { OverdueWorker } from '@paddock/db/workers/overdue-workers';
import type { RunnerReading } from '@paddock/db/workers/runner-readings';
import type { Database } from '@paddock/db/schema/tables';
import { countListable } from '@paddock/db/workers/worker-stops';
import type { GitHub } from '@paddock/github/connect';
import { classifyGitHubError } from '@paddock/github/errors';
import { findRunner, type GitHubRunner, listRunners } from '@paddock/github/runners';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import type { GitHubTrouble } from '../github-trouble.ts';
import { scopeToday } from '../scope-today.ts';

export interface ReadingRunners {
  readonly db: Kysely<Database>;
  readonly github: GitHub;
  readonly events: Pick<ReconcilerEvents, 'runnersNotRead' | 'runnersMissing'>;
  readonly dryRun: boolean;
}

/** So many registered workers, and a list of runners without any of ours is no surprise. */
const FEW = 1;

/** All names of our instance begin alike (A8): `pdk-{instance}-`. */
const isOurs = (podName: string) => {
  const [prefix, instance] = podName.split('-');
  return ({ name }: GitHubRunner): boolean => name.startsWith(`${prefix}-${instance}-`);
};

/**
 * What GitHub says of the runners of one scope's workers, in one call where only one is asked for, else in one list. Undefined where it could
 * not be asked, or where its list has none of ours although several should be in it: then nothing
 * follows.
 */
export async function readRunners(
  parts: ReadingRunners,
  workers: readonly [OverdueWorker, ...OverdueWorker[]],
  { trouble, signal }: { trouble: GitHubTrouble; signal: AbortSignal },
): Promise<RunnerReading[] | undefined> {
  const { db, github, events, dryRun } = parts;
  const [{ appId, installationId, entityId, entityType, login, scopeRepoId, podName }] = workers;
  if (trouble.isPointless(installationId)) return undefined;
  try {
    const client = github.asInstallation(appId, installationId, { signal });
    const scope = await scopeToday(client, { scopeRepoId, login });
    if (scope === undefined) {
      events.runnersNotRead(login, { repositoryId: scopeRepoId, message: 'GitHub does not show us the repository' });
      return undefined;
    }
    const listed = workers.length > 1 ? await listRunners(client, scope) : undefined;
    const runners = listed ?? [await findRunner(client, scope, podName)].filter((runner) => runner !== undefined);
    trouble.answered();
    if (!runners.some(isOurs(podName))) {
      const registered = await countListable(db, { entityId, scopeRepoId });
      // The one that is asked for by name may well be gone; a list without any of ours is not to be believed.
      if (registered > FEW && !(listed ?? (await listRunners(client, scope))).some(isOurs(podName))) {
        events.runnersMissing(login, registered);
        return undefined;
      }
    }
    return readings(workers, runners);
  } catch (error) {
    signal.throwIfAborted();
    const failure = classifyGitHubError(error);
    if (failure.operation === 'unknown') throw error;
    events.runnersNotRead(login, failure);
    const isRefusal = trouble.note(installationId, failure) || failure.kind === 'not_found';
    if (isRefusal && !dryRun) {
      const { operation, status: httpStatus = 0, message } = failure;
      const account = { appId, installationId, entityId, entityType, entityName: login };
      await recordAuthFailure(db, 'reconciler', { operation, httpStatus, message, ...account, jobId: null, deliveryGuid: null });
    }
    return undefined;
  }
}

function readings(workers: readonly OverdueWorker[], runners: readonly GitHubRunner[]): RunnerReading[] {
  const byName = new Map(runners.map((runner) => [runner.name, runner]));
  return workers.map(({ podName }) => {
    const runner = byName.get(podName);
    return { podName, isKnown: runner !== undefined, isOnline: runner?.online ?? false, isBusy: runner?.busy ?? false };
  });
}
