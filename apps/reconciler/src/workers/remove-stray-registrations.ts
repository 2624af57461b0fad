import { findInstance } from '@paddock/db/instance';
import {
  findKnownScopes,
  findNamesWithoutWorker,
  forgetStrayRegistration,
  type KnownScope,
  noteStrayRegistrations,
  type SeenRegistration,
} from '@paddock/db/workers/stray-registrations';
import type { Noting } from '@paddock/db/breakers/note-failure';
import { countListable } from '@paddock/db/workers/worker-stops';
import { findNamespaces } from '@paddock/db/workers/worker-pods';
import { instancePrefix } from '@paddock/domain/workers/worker-name';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { classifyGitHubError } from '@paddock/github/errors';
import { deleteRunner, getRunner, type GitHubRunner, listRunners } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { Cluster } from '@paddock/kube/connect';
import { KubeError } from '@paddock/kube/errors';
import { findPod } from '@paddock/kube/pods';
import { deleteSecret } from '@paddock/kube/secrets';
import { createAskGitHub } from '../ask-github.ts';
import { actOrCount } from '../count-only.ts';
import type { ReconcilerEvents } from '../events.ts';
import { scopeToday } from '../scope-today.ts';

export interface RemoveStrayRegistrationsOptions extends Noting {
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
  /** Only list the runners. `removed` counts those that would be removed. */
  dryRun: boolean;
}

export interface StrayRegistrationsCounts {
  /** Scopes whose runners were listed. */
  listed: number;
  /** Offline registrations with our name and without a worker. */
  strays: number;
  /** Online ones: left alone, since the scheduler adopts their pods. */
  online: number;
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
  signal: AbortSignal,
): Promise<StrayRegistrationsCounts> {
  const { db, events, cap } = options;
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
  const { madeWithinMs, github } = options;
  const ask = createAskGitHub({
    db,
    github,
    breakerRules: options.breakerRules,
    dryRun: options.dryRun,
    onUnanswered: ({ what }, failure) => {
      counts.failed++;
      events.strayRegistrationsNotChecked(what, failure);
    },
    signal,
  });
  const due: Stray[] = [];
  for (const known of await findKnownScopes(db, { madeWithinMs, appIds: github.appIds })) {
    const whom = { ...known, repoId: known.scopeRepoId };
    const seen = await ask(whom, known.login, (client) => listOurs(client, known, prefix));
    if (seen !== undefined) due.push(...(await noteStrays(options, known, seen, counts)));
  }
  if (signal.aborted) return counts;
  if (due.length > cap) {
    events.tooManyStrays(due.length, cap);
    return { ...counts, overCap: due.length };
  }
  const namespaces = due.length === 0 ? [] : await findNamespaces(db);
  for (const stray of due) {
    if (signal.aborted) break;
    counts[await removeOne(options, stray, { namespaces, counts, signal })]++;
  }
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
  { db, events, graceMs, dryRun }: RemoveStrayRegistrationsOptions,
  known: KnownScope,
  { scope, ours }: Listed,
  counts: StrayRegistrationsCounts,
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
    .filter(({ online, busy }) => !online && !busy)
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
  { db, github, cluster, events, dryRun }: RemoveStrayRegistrationsOptions,
  { registration: { runnerId, name }, known, scope }: Stray,
  {
    namespaces,
    counts,
    signal,
  }: { namespaces: readonly string[]; counts: StrayRegistrationsCounts; signal: AbortSignal },
): Promise<'removed' | 'left' | 'failed'> {
  const client = github.asInstallation(known, { signal });
  // Only for calls: a failed statement ends the pass.
  const report = (error: unknown): 'failed' => {
    if (error instanceof KubeError) events.straySecretNotRemoved(name, error.failure);
    else {
      const failure = classifyGitHubError(error);
      if (failure.kind !== 'rate_limited')
        events.strayRegistrationsNotChecked(known.login, failure); // the call that GitHub asked to wait has logged it
    }
    return 'failed';
  };
  const runner = await getRunner(client, scope, runnerId).catch(report);
  if (runner === 'failed') return runner;
  if (runner !== undefined && (runner.online || runner.busy)) return 'left';
  if ((await findNamesWithoutWorker(db, [name])).length === 0) return 'left';
  const remove = async () => {
    for (const namespace of namespaces)
      if ((await findPod(cluster, { namespace, name })) !== undefined) return 'left';
    if (dryRun) return 'removed';
    for (const namespace of namespaces)
      if ((await deleteSecret(cluster, { namespace, name })) === 'deleted') counts.secrets++;
    return runner === undefined ? 'absent' : deleteRunner(client, scope, runnerId);
  };
  const result = await remove().catch(report);
  if (result === 'busy') return 'left';
  if (result === 'left' || result === 'removed' || result === 'failed') return result;
  await forgetStrayRegistration(db, known, runnerId);
  if (result === 'deleted') events.strayRegistrationRemoved(name);
  return result === 'deleted' ? 'removed' : 'left';
}
