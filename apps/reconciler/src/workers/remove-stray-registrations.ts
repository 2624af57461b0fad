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
    'strayRegistrationRemoved' | 'strayRegistrationsNotChecked' | 'runnersMissing' | 'tooManyStrays' | 'straySecretNotRemoved'
  >;
  /** Only scopes for which a worker was made so lately, in milliseconds. */
  madeWithinMs: number;
  /** How long a stray must have been known, in milliseconds. */
  graceMs: number;
  /** With more strays to remove than this, none is. */
  cap: number;
  /** Only lists the runners: `removed` counts those that would go. */
  dryRun: boolean;
}

export interface StrayRegistrationsCounts {
  /** Scopes whose runners were listed. */
  listed: number;
  /** Registrations that bear our name, have no worker and are offline. */
  strays: number;
  /** The same, but online: their pods are adopted, and they are left alone (P2). */
  online: number;
  removed: number;
  /** Secrets that bore their names. */
  secrets: number;
  /** Gone, online, busy, known again or with a pod when they were to be removed. */
  left: number;
  failed: number;
  /** More were due than the cap, so that none was removed. */
  overCap: number;
}

interface Stray {
  readonly registration: SeenRegistration;
  readonly known: KnownScope;
  readonly scope: RegistrationScope;
}

/**
 * Removes registrations at GitHub that bear our instance's name and have no worker here (E6): offline, in two lists at least, for longer
 * than the grace. One list per scope. What cannot be listed, or shows none of the runners that must be there, changes nothing.
 *
 * A Secret with neither row nor pod goes with its registration, and is found by its name: no service may list Secrets.
 */
export async function removeStrayRegistrations(
  options: RemoveStrayRegistrationsOptions,
  signal: AbortSignal,
): Promise<StrayRegistrationsCounts> {
  const { db, events, cap } = options;
  const counts: StrayRegistrationsCounts = { listed: 0, strays: 0, online: 0, removed: 0, secrets: 0, left: 0, failed: 0, overCap: 0 };
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

/** What GitHub lists of a scope. */
interface Listed {
  readonly scope: RegistrationScope;
  /** Runners that bear our instance's name. */
  readonly ours: readonly GitHubRunner[];
}

/** Undefined if GitHub does not show us the repository. */
async function listOurs(client: InstallationClient, known: KnownScope, prefix: string): Promise<Listed | undefined> {
  const scope = await scopeToday(client, known);
  if (scope === undefined) return undefined;
  return { scope, ours: (await listRunners(client, scope)).filter(({ name }) => name.startsWith(prefix)) };
}

/** The scope's strays that are due, after this list was noted. */
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
  const offline = strays.filter(({ online, busy }) => !online && !busy).map(({ id, name }) => ({ runnerId: id, name }));
  counts.strays += offline.length;
  counts.online += strays.length - offline.length;
  const due = await actOrCount(db, dryRun, (using) => noteStrayRegistrations(using, known, offline, graceMs));
  return due.map((registration) => ({ registration, known, scope }));
}

/** Looks once more at all sides before it deletes: the list may be minutes old by now. The Secret goes first, for its name is known only by the registration. */
async function removeOne(
  { db, github, cluster, events, dryRun }: RemoveStrayRegistrationsOptions,
  { registration: { runnerId, name }, known, scope }: Stray,
  { namespaces, counts, signal }: { namespaces: readonly string[]; counts: StrayRegistrationsCounts; signal: AbortSignal },
): Promise<'removed' | 'left' | 'failed'> {
  const client = github.asInstallation(known, { signal });
  // Only of the calls: a statement that fails ends the pass.
  const tell = (error: unknown): 'failed' => {
    if (error instanceof KubeError) events.straySecretNotRemoved(name, error.failure);
    else {
      const failure = classifyGitHubError(error);
      if (failure.kind !== 'rate_limited') events.strayRegistrationsNotChecked(known.login, failure); // a wait was told where it began
    }
    return 'failed';
  };
  const runner = await getRunner(client, scope, runnerId).catch(tell);
  if (runner === 'failed') return runner;
  if (runner !== undefined && (runner.online || runner.busy)) return 'left';
  if ((await findNamesWithoutWorker(db, [name])).length === 0) return 'left';
  const remove = async () => {
    for (const namespace of namespaces) if ((await findPod(cluster, { namespace, name })) !== undefined) return 'left';
    if (dryRun) return 'removed';
    for (const namespace of namespaces) if ((await deleteSecret(cluster, { namespace, name })) === 'deleted') counts.secrets++;
    return runner === undefined ? 'absent' : deleteRunner(client, scope, runnerId);
  };
  const result = await remove().catch(tell);
  if (result === 'busy') return 'left';
  if (result === 'left' || result === 'removed' || result === 'failed') return result;
  await forgetStrayRegistration(db, known, runnerId);
  if (result === 'deleted') events.strayRegistrationRemoved(name);
  return result === 'deleted' ? 'removed' : 'left';
}
