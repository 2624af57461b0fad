import { findInstance } from '@paddock/db/instance';
import type { Database } from '@paddock/db/schema/tables';
import {
  findKnownScopes,
  findWorkersByName,
  type KnownScope,
  type NamedWorker,
} from '@paddock/db/workers/registrations';
import { findNamespaces } from '@paddock/db/workers/worker-pods';
import { findListableRunners } from '@paddock/db/workers/worker-stops';
import { isUnused, podSays, runnerSays } from '@paddock/domain/workers/nothing-runs';
import { instancePrefix } from '@paddock/domain/workers/worker-name';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { deleteRunner, getRunner, type GitHubRunner, listRunners } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient, KubeError } from '@paddock/kube/errors';
import { findPod } from '@paddock/kube/pods';
import { deleteSecret } from '@paddock/kube/secrets';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { type Ask, createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { scopeToday } from './read-runners.ts';

export interface RemoveRegistrationsOptions {
  db: Kysely<Database>;
  github: GitHub;
  cluster: Cluster;
  events: Pick<
    ReconcilerEvents,
    | 'registrationRemoved'
    | 'runnersNotRead'
    | 'runnersMissing'
    | 'registrationSecretNotRemoved'
    | 'tooManyStrays'
  >;
  /** Only scopes with a worker younger than this, in milliseconds. */
  madeWithinMs: number;
  /** How long lists must have shown a registration unused before it is removed, in milliseconds. */
  graceMs: number;
  /** Most registrations that one pass removes. */
  cap: number;
  /** With more strays to remove, which no row names, removes none of them. */
  strayCap: number;
}

export interface RemovedRegistrationsCounts {
  /** Scopes whose runners were listed. */
  listed: number;
  /** Registrations with our name, without a live worker, and used by no runner. */
  unused: number;
  /** The same, online or busy: left alone. */
  inUse: number;
  /** In a dry run: how many would be. */
  removed: number;
  /** Removed Secrets of the same names. */
  secrets: number;
  /** Right before removal: gone, in use, with a live worker, or with a pod that may run. */
  left: number;
  failed: number;
  /** How many strays were due if that was more than their cap, so that none was removed; else 0. */
  overCap: number;
}

/** All lists must fit into a pass: what it removes is known after the last. */
const LISTS_AT_ONCE = 8;

interface LeftRegistration {
  readonly runnerId: number;
  readonly name: string;
  readonly known: KnownScope;
  readonly scope: RegistrationScope;
  /** The ended worker of this name; undefined: a stray, as after a restore of the database. */
  readonly worker: NamedWorker | undefined;
}

/**
 * Removes registrations with our instance's name that workers left at GitHub: without a live worker,
 * and unused in at least two lists in a row, the first of them before the grace. One list per scope.
 * A failed list, or one without any of our registered runners, changes nothing.
 *
 * Also removes a Secret of the same name, since no service may list Secrets.
 */
export async function removeRegistrations(
  options: RemoveRegistrationsOptions,
  pass: Pass,
): Promise<RemovedRegistrationsCounts> {
  const { db, github, events, cap, strayCap, madeWithinMs } = options;
  const counts: RemovedRegistrationsCounts = {
    listed: 0,
    unused: 0,
    inUse: 0,
    removed: 0,
    secrets: 0,
    left: 0,
    failed: 0,
    overCap: 0,
  };
  const prefix = instancePrefix(await findInstance(db));
  const askFor = createAskGitHub({
    db,
    github,
    pass,
    onUnanswered: ({ what }, failure) => events.runnersNotRead(what, failure),
  });
  const due: LeftRegistration[] = [];
  const scopes = await findKnownScopes(db, { madeWithinMs, appIds: github.appIds });
  await pass.walk(scopes, {
    entityOf: ({ entityId }) => entityId,
    keyOf,
    atOnce: LISTS_AT_ONCE,
    async visit(known, turn) {
      const ask = askFor({ ...known, repoId: known.scopeRepoId }, turn);
      const registered = await findListableRunners(db, known);
      const seen = await ask(known.login, (client) =>
        listOurs(client, known, { prefix, registered, byId: turn.hasFailedLong }),
      );
      if (seen?.isComplete === false) events.runnersMissing(known.login, registered.length);
      if (seen?.isComplete !== true) counts.failed++;
      else due.push(...(await noteLeft(options, { known, seen, counts }, pass)));
      return seen?.isComplete === true;
    },
  });
  const strays = due.filter(({ worker }) => worker === undefined).length;
  if (strays > strayCap) {
    counts.overCap = strays;
    events.tooManyStrays(strays, strayCap);
  }
  const chosen = due.filter(({ worker }) => worker !== undefined || counts.overCap === 0);
  const namespaces = strays === 0 ? [] : await findNamespaces(db);
  await pass.walk(chosen, {
    entityOf: ({ known }) => known.entityId,
    keyOf: ({ name }) => name,
    async visit(left, turn) {
      turn.isUnasked = counts.removed >= cap;
      if (turn.isUnasked) return false;
      const ask = askFor({ ...left.known, repoId: left.known.scopeRepoId }, turn);
      const where = left.worker === undefined ? namespaces : [left.worker.namespace];
      const result = await removeOne(options, left, { namespaces: where, counts, pass, ask });
      counts[result]++;
      return result !== 'failed';
    },
  });
  return counts;
}

/** A scope's runners at GitHub. */
interface Listed {
  readonly scope: RegistrationScope;
  /** Runners with our instance's name. */
  readonly ours: readonly GitHubRunner[];
  /** False: the list has none of our runners although some are registered. */
  readonly isComplete: boolean;
}

/** Undefined if GitHub does not show us the repository. */
async function listOurs(
  client: InstallationClient,
  known: KnownScope,
  given: { prefix: string; registered: readonly (number | null)[]; byId: boolean },
): Promise<Listed | undefined> {
  const { prefix, registered, byId } = given;
  const scope = await scopeToday(client, known);
  if (scope === undefined) return undefined;
  const ours = (await listRunners(client, scope)).filter(({ name }) => name.startsWith(prefix));
  const isBelieved = ours.length > 0 || registered.length === 0;
  const isComplete = isBelieved || (byId && (await areAllGone(client, scope, registered)));
  return { scope, ours, isComplete };
}

/** GitHub is asked for each, until it knows one. One without an id may be there. */
async function areAllGone(
  client: InstallationClient,
  scope: RegistrationScope,
  runnerIds: readonly (number | null)[],
): Promise<boolean> {
  for (const id of runnerIds)
    if (id === null || (await getRunner(client, scope, id)) !== undefined) return false;
  return true;
}

const names = (runners: readonly GitHubRunner[]) => runners.map(({ name }) => name);

/** Notes what a list shows unused. Returns what is due for removal. */
async function noteLeft(
  { db, graceMs }: RemoveRegistrationsOptions,
  {
    known,
    seen: { scope, ours },
    counts,
  }: { known: KnownScope; seen: Listed; counts: RemovedRegistrationsCounts },
  pass: Pass,
): Promise<LeftRegistration[]> {
  const workers = await findWorkersByName(db, names(ours));
  const left = ours.filter(({ name }) => workers.get(name)?.isLive !== true);
  const unused = left.filter((runner) => isUnused(runnerSays(runner)));
  counts.listed++;
  counts.unused += unused.length;
  counts.inUse += left.length - unused.length;
  const unusedForMs = pass.note(keyOf(known), names(unused));
  return unused
    .filter(({ name }) => (unusedForMs.get(name) ?? -1) >= graceMs)
    .map(({ id, name }) => ({ runnerId: id, name, known, scope, worker: workers.get(name) }));
}

const keyOf = ({ entityId, scopeRepoId }: KnownScope): string => `${entityId} ${scopeRepoId}`;

/**
 * Checks GitHub, our rows and the cluster again before deleting, since the list may be minutes old.
 * The Secret goes first: without a row, only the registration has its name.
 */
async function removeOne(
  { db, cluster, events }: RemoveRegistrationsOptions,
  { runnerId, name, known, scope }: LeftRegistration,
  {
    namespaces,
    counts,
    pass,
    ask,
  }: { namespaces: readonly string[]; counts: RemovedRegistrationsCounts; pass: Pass; ask: Ask },
): Promise<'removed' | 'left' | 'failed'> {
  const found = await ask(known.login, async (client) => ({
    runner: await getRunner(client, scope, runnerId),
  }));
  if (found === undefined) return 'failed';
  if (!isUnused(runnerSays(found.runner))) return 'left';
  if ((await findWorkersByName(db, [name])).get(name)?.isLive === true) return 'left';
  try {
    for (const namespace of namespaces) {
      const says = podSays(await findPod(cluster, { namespace, name }));
      // The pod of an ended worker is kept for hours, for its log.
      if (says !== 'absent' && says !== 'ended') return 'left';
    }
    if (pass.dryRun) return 'removed';
    for (const namespace of namespaces)
      if ((await deleteSecret(cluster, { namespace, name })) === 'deleted') counts.secrets++;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    events.registrationSecretNotRemoved(name, error.failure);
    if (isTransient(error.failure)) await pass.isAway('cluster');
    return 'failed';
  }
  if (found.runner === undefined) return 'left';
  const result = await ask(known.login, (client) => deleteRunner(client, scope, runnerId));
  if (result === undefined) return 'failed';
  if (result === 'deleted') events.registrationRemoved(name);
  return result === 'deleted' ? 'removed' : 'left';
}
