import { endRefusals, recordRefusal } from '@paddock/db/breakers/refusals';
import type { Noting } from '@paddock/db/breakers/note-failure';
import {
  findLeftRegistrations,
  type LeftRegistration,
  markRegistrationsGone,
} from '@paddock/db/workers/registrations';
import type { Database } from '@paddock/db/schema/tables';
import { countListable } from '@paddock/db/workers/worker-stops';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { classifyGitHubError } from '@paddock/github/errors';
import { deleteRunner, findRunner, getRunner, listRunners } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { createPassFailures, type PassFailures } from '../pass-failures.ts';
import { scopeToday } from '../scope-today.ts';

export interface RemoveRegistrationsOptions extends Noting {
  github: GitHub;
  events: Pick<
    ReconcilerEvents,
    'registrationRemoved' | 'registrationLeft' | 'registrationNotChecked'
  >;
  graceMs: number;
  /** Most registrations that one pass removes. */
  cap: number;
  /** Only look the runners up. `removed` counts those that would be removed. */
  dryRun: boolean;
}

export interface RemovedRegistrationsCounts {
  removed: number;
  /** GitHub no longer knew the runner. */
  absent: number;
  /** Online or busy, so it may run a job; or GitHub's list cannot be complete. */
  left: number;
  failed: number;
}

const BATCH = 100;

/**
 * Removes the registrations that failed workers left at GitHub: offline, idle, and older than the
 * grace. Finds them by the runner's id, or by the worker's name without one. Once GitHub refuses an
 * entity, the pass skips its other registrations.
 */
export async function removeRegistrations(
  options: RemoveRegistrationsOptions,
  signal: AbortSignal,
): Promise<RemovedRegistrationsCounts> {
  const { db, github, graceMs, cap, dryRun } = options;
  const counts: RemovedRegistrationsCounts = { removed: 0, absent: 0, left: 0, failed: 0 };
  const seen: Seen = { failures: createPassFailures(), trusted: new Map() };
  let after: LeftRegistration | undefined;
  while (!signal.aborted && counts.removed < cap) {
    const batch = await findLeftRegistrations(db, {
      graceMs,
      appIds: github.appIds,
      limit: BATCH,
      after,
    });
    const gone: string[] = [];
    for (const registration of batch) {
      if (signal.aborted || counts.removed >= cap) break;
      if (seen.failures.isPointless(dependenciesOf(registration))) continue;
      const result = await removeOne(options, registration, seen, signal);
      counts[result]++;
      if (result === 'removed' || result === 'absent') gone.push(registration.podName);
    }
    if (!dryRun) await markRegistrationsGone(db, gone);
    after = batch.at(-1);
    if (batch.length < BATCH) break;
  }
  return counts;
}

/** This pass' conclusions from GitHub's answers. */
interface Seen {
  readonly failures: PassFailures;
  /** By scope: whether GitHub's list of runners may be complete. */
  readonly trusted: Map<string, boolean>;
}

async function removeOne(
  { db, breakerRules, github, events, dryRun }: RemoveRegistrationsOptions,
  registration: LeftRegistration,
  seen: Seen,
  signal: AbortSignal,
): Promise<keyof RemovedRegistrationsCounts> {
  const { podName, deliveryGuid } = registration;
  const client = github.asInstallation(registration, {
    signal,
    ...(deliveryGuid === null ? {} : { correlationId: deliveryGuid }),
  });
  await trustEmptyScope(db, registration, seen);
  let why: string | undefined;
  try {
    why = await removeIfIdle(client, registration, dryRun, (scope) =>
      isTrustedList(client, scope, registration, seen),
    );
  } catch (error) {
    const failure = classifyGitHubError(error);
    if (failure.kind === 'rate_limited') return 'failed'; // the call that GitHub asked to wait has logged it
    events.registrationNotChecked(podName, failure);
    seen.failures.note(dependenciesOf(registration), failure);
    if (refusedSubject(failure) !== undefined && !dryRun) {
      const call = { ...dependenciesOf(registration), jobId: registration.madeForJobId };
      await recordRefusal({ db, breakerRules }, 'reconciler', { call, refusal: failure });
    }
    return 'failed';
  }
  seen.failures.answered();
  if (!dryRun) await endRefusals(db, dependenciesOf(registration));
  if (why === 'absent') return 'absent';
  if (why === undefined) {
    if (!dryRun) events.registrationRemoved(podName);
    return 'removed';
  }
  events.registrationLeft(podName, why);
  return 'left';
}

/** Undefined: removed (in a dry run, would be). `absent`: there is none. Else why it stays. */
async function removeIfIdle(
  client: InstallationClient,
  registration: LeftRegistration,
  dryRun: boolean,
  isTrusted: (scope: RegistrationScope) => Promise<boolean>,
): Promise<string | undefined> {
  const scope = await scopeToday(client, registration);
  if (scope === undefined) return 'GitHub does not show its repository to the App';
  const { podName, runnerId } = registration;
  const runner =
    runnerId === null
      ? await findRunner(client, scope, podName)
      : await getRunner(client, scope, runnerId);
  if (runner === undefined && runnerId === null && !(await isTrusted(scope)))
    return 'GitHub lists no runners although some are registered';
  if (runner === undefined) return 'absent';
  if (runner.online) return 'the runner is online';
  if (runner.busy) return 'the runner is busy';
  if (dryRun) return undefined;
  const result = await deleteRunner(client, scope, runner.id);
  switch (result) {
    case 'deleted':
      return undefined;
    case 'absent':
      return 'absent';
    case 'busy':
      return 'GitHub says that the runner runs a job';
    default:
      return result satisfies never;
  }
}

/** Without registered workers in a scope, an empty list may be complete. */
async function trustEmptyScope(
  db: Kysely<Database>,
  registration: LeftRegistration,
  { trusted }: Seen,
): Promise<void> {
  const scopeKey = scopeKeyOf(registration);
  if (registration.runnerId !== null || trusted.has(scopeKey)) return;
  if ((await countListable(db, registration)) === 0) trusted.set(scopeKey, true);
}

/**
 * False if GitHub lists no runners although ours are registered: then a missing runner proves
 * nothing.
 */
async function isTrustedList(
  client: InstallationClient,
  scope: RegistrationScope,
  registration: LeftRegistration,
  { trusted }: Seen,
): Promise<boolean> {
  const scopeKey = scopeKeyOf(registration);
  const isTrusted = trusted.get(scopeKey) ?? (await listRunners(client, scope)).length > 0;
  trusted.set(scopeKey, isTrusted);
  return isTrusted;
}

const scopeKeyOf = ({ entityId, scopeRepoId }: LeftRegistration): string =>
  `${entityId} ${scopeRepoId}`;

const dependenciesOf = (registration: LeftRegistration) => ({
  ...registration,
  repoId: registration.scopeRepoId,
});
