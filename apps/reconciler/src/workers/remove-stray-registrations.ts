import { findInstance } from '@paddock/db/instance';
import {
  findKnownScopes,
  findNamesWithoutWorker,
  forgetStrayRegistration,
  type KnownScope,
  noteStrayRegistrations,
  type SeenRegistration,
} from '@paddock/db/workers/stray-registrations';
import type { Database } from '@paddock/db/schema/tables';
import { countListable } from '@paddock/db/workers/worker-stops';
import { findNamespaces } from '@paddock/db/workers/worker-pods';
import { isUnused, runnerSays } from '@paddock/domain/workers/nothing-runs';
import { instancePrefix } from '@paddock/domain/workers/worker-name';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { deleteRunner, getRunner, type GitHubRunner, listRunners } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient, KubeError } from '@paddock/kube/errors';
import { findPod } from '@paddock/kube/pods';
import { deleteSecret } from '@paddock/kube/secrets';
import type { Kysely } from 'kysely';
import { type Ask, createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { actOrCount } from '../count-only.ts';
import type { ReconcilerEvents } from '../events.ts';
import { scopeToday } from '../scope-today.ts';

export interface RemoveStrayRegistrationsOptions {
  db: Kysely<Database>;
  github: GitHub;
  cluster: Cluster;
  events: Pick<
    ReconcilerEvents,
    | 'strayRegistrationRemoved'
    | 'strayRegistrationsNotChecked'
    | 'runnersMissing'
    | 'tooManyStrays'
    | 'straySecretNotRemoved'
  >;
  /** Only scopes with a worker younger than this, in milliseconds. */
  madeWithinMs: number;
  /** How long a stray must be known before it is removed, in milliseconds. */
  graceMs: number;
  /** With more strays to remove, removes none. */
  cap: number;
}

export interface StrayRegistrationsCounts {
  /** Scopes whose runners were listed. */
  listed: number;
  /** Offline registrations with our name and without a worker. */
  strays: number;
  /** Online ones: left alone, since the scheduler adopts their pods. */
  online: number;
  /** In a dry run: how many would be. */
  removed: number;
  /** Removed Secrets of the same names. */
  secrets: number;
  /** Right before removal: gone, online, busy, with a worker, or with a pod. */
  left: number;
  failed: number;
  /** How many were due if that was more than the cap, so that none was removed; else 0. */
  overCap: number;
}

interface Stray {
  readonly registration: SeenRegistration;
  readonly known: KnownScope;
  readonly scope: RegistrationScope;
}

/**
 * Removes registrations at GitHub with our instance's name and without a worker: offline in at
 * least two lists, for longer than the grace. One list per scope. A failed list, or one without any
 * of our registered runners, changes nothing.
 *
 * Also removes a Secret of the same name with neither row nor pod, since no service may list
 * Secrets.
 */
export async function removeStrayRegistrations(
  options: RemoveStrayRegistrationsOptions,
  pass: Pass,
): Promise<StrayRegistrationsCounts> {
  const { db, github, events, cap, madeWithinMs } = options;
  const counts: StrayRegistrationsCounts = {
    listed: 0,
    strays: 0,
    online: 0,
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
    onUnanswered: ({ what }, failure) => events.strayRegistrationsNotChecked(what, failure),
  });
  const due: Stray[] = [];
  const scopes = await findKnownScopes(db, { madeWithinMs, appIds: github.appIds });
  const isThrough = await pass.walk(scopes, {
    entityOf: ({ entityId }) => entityId,
    keyOf: ({ entityId, scopeRepoId }) => `${entityId} ${scopeRepoId}`,
    async visit(known, turn) {
      const ask = askFor({ ...known, repoId: known.scopeRepoId }, turn);
      const seen = await ask(known.login, (client) => listOurs(client, known, prefix));
      if (seen === undefined) counts.failed++;
      else due.push(...(await noteStrays(options, { known, seen, counts }, pass.dryRun)));
      return seen !== undefined;
    },
  });
  if (due.length > cap) {
    events.tooManyStrays(due.length, cap);
    return { ...counts, overCap: due.length };
  }
  const namespaces = due.length === 0 ? [] : await findNamespaces(db);
  if (!isThrough) return counts;
  await pass.walk(due, {
    entityOf: ({ known }) => known.entityId,
    keyOf: ({ registration }) => registration.name,
    async visit(stray, turn) {
      const ask = askFor({ ...stray.known, repoId: stray.known.scopeRepoId }, turn);
      const result = await removeOne(options, stray, { namespaces, counts, pass, ask });
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
}

/** Undefined if GitHub does not show us the repository. */
async function listOurs(
  client: InstallationClient,
  known: KnownScope,
  prefix: string,
): Promise<Listed | undefined> {
  const scope = await scopeToday(client, known);
  if (scope === undefined) return undefined;
  return {
    scope,
    ours: (await listRunners(client, scope)).filter(({ name }) => name.startsWith(prefix)),
  };
}

/** Stores a list's strays. Returns those that are due for removal. */
async function noteStrays(
  { db, events, graceMs }: RemoveStrayRegistrationsOptions,
  {
    known,
    seen: { scope, ours },
    counts,
  }: { known: KnownScope; seen: Listed; counts: StrayRegistrationsCounts },
  dryRun: boolean,
): Promise<Stray[]> {
  counts.listed++;
  const listable = ours.length === 0 ? await countListable(db, known) : 0;
  if (listable > 0) {
    events.runnersMissing(known.login, listable);
    return [];
  }
  const names = ours.map(({ name }) => name);
  const withoutWorker = new Set(await findNamesWithoutWorker(db, names));
  const strays = ours.filter(({ name }) => withoutWorker.has(name));
  const offline = strays
    .filter((runner) => isUnused(runnerSays(runner)))
    .map(({ id, name }) => ({ runnerId: id, name }));
  counts.strays += offline.length;
  counts.online += strays.length - offline.length;
  const due = await actOrCount(db, dryRun, (using) =>
    noteStrayRegistrations(using, known, offline, graceMs),
  );
  return due.map((registration) => ({ registration, known, scope }));
}

/**
 * Checks GitHub, our rows and the cluster again before deleting, since the list may be minutes old.
 * The Secret goes first: only the registration has its name.
 */
async function removeOne(
  { db, cluster, events }: RemoveStrayRegistrationsOptions,
  { registration: { runnerId, name }, known, scope }: Stray,
  {
    namespaces,
    counts,
    pass,
    ask,
  }: { namespaces: readonly string[]; counts: StrayRegistrationsCounts; pass: Pass; ask: Ask },
): Promise<'removed' | 'left' | 'failed'> {
  const found = await ask(known.login, async (client) => ({
    runner: await getRunner(client, scope, runnerId),
  }));
  if (found === undefined) return 'failed';
  const { runner } = found;
  if (!isUnused(runnerSays(runner))) return 'left';
  if ((await findNamesWithoutWorker(db, [name])).length === 0) return 'left';
  try {
    for (const namespace of namespaces)
      if ((await findPod(cluster, { namespace, name })) !== undefined) return 'left';
    if (pass.dryRun) return 'removed';
    for (const namespace of namespaces)
      if ((await deleteSecret(cluster, { namespace, name })) === 'deleted') counts.secrets++;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    events.straySecretNotRemoved(name, error.failure);
    if (isTransient(error.failure)) await pass.isAway('cluster');
    return 'failed';
  }
  const result =
    runner === undefined
      ? 'absent'
      : await ask(known.login, (client) => deleteRunner(client, scope, runnerId));
  if (result === undefined) return 'failed';
  if (result === 'busy') return 'left';
  await forgetStrayRegistration(db, known, runnerId);
  if (result === 'deleted') events.strayRegistrationRemoved(name);
  return result === 'deleted' ? 'removed' : 'left';
}
