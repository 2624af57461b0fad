import {
  findKnownScopes,
  findWorkersByName,
  type KnownScope,
  type NamedWorker,
} from '@paddock/db/workers/registrations';
import { findNamespaces } from '@paddock/db/workers/worker-pods';
import { isUnused, podSays, runnerSays } from '@paddock/domain/workers/may-end';
import type { InstallationClient } from '@paddock/github/connect';
import {
  deleteRunner,
  getRunner,
  type GitHubRunner,
  type RegistrationScope,
} from '@paddock/github/runners';
import { isUnanswered, KubeError } from '@paddock/kube/errors';
import { findPod } from '@paddock/kube/pods';
import { deleteSecret } from '@paddock/kube/secrets';
import { done, type Outcome } from '@paddock/queue/kind';
import { type Ask, createAskGitHub } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { createReadRunners, scopeKey } from './read-runners.ts';

/** Scopes with a worker this young are listed: GitHub deletes an unused registration after a day. */
const SCOPES_WITHIN_MS = 86_400_000;

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
export async function removeRegistrations(context: SweepContext, pass: Pass): Promise<Outcome> {
  const { db, github, events, config } = context;
  const counts = {
    /** Scopes whose runners were listed. */
    listed: 0,
    /** Registrations with our name, without a live worker, and used by no runner. */
    unused: 0,
    /** The same, online or busy: left alone. */
    inUse: 0,
    /** In a dry run: how many would be. */
    removed: 0,
    /** Removed Secrets of the same names. */
    secrets: 0,
    /** Right before removal: gone, in use, with a live worker, or with a pod that may run. */
    left: 0,
    failed: 0,
    /** Strays of entities that have more of them than the cap: none of theirs was removed. */
    overCap: 0,
  };
  const askFor = createAskGitHub(context, pass, ({ what }, failure) =>
    events.runnersNotRead(what, failure),
  );
  const readRunners = await createReadRunners(db);
  const due: LeftRegistration[] = [];
  const query = { madeWithinMs: SCOPES_WITHIN_MS, appIds: github.appIds };
  await pass.walk(await findKnownScopes(db, query), {
    entityOf: ({ entityId }) => entityId,
    keyOf: scopeKey,
    waitsForTick: true,
    async visit(known, turn) {
      const ask = askFor({ ...known, repoId: known.scopeRepoId }, turn);
      const seen = await readRunners(known, ask, async (listed, client) => {
        const { ours, registered, scope } = listed;
        const isBelieved = ours.length > 0 || registered.length === 0;
        const isComplete =
          isBelieved || (turn.hasFailedLong && (await areAllGone(client, scope, registered)));
        return { ...listed, isComplete };
      });
      if (seen?.isComplete !== true) {
        counts.failed++;
        if (seen !== undefined) events.runnersMissing(known.login, seen.registered.length);
        return false;
      }
      const workers = await findWorkersByName(db, names(seen.ours));
      const left = seen.ours.filter(({ name }) => workers.get(name)?.isLive !== true);
      const unused = left.filter((runner) => isUnused(runnerSays(runner)));
      counts.listed++;
      counts.unused += unused.length;
      counts.inUse += left.length - unused.length;
      const unusedForMs = pass.note(scopeKey(known), names(unused));
      for (const { id: runnerId, name } of unused)
        if ((unusedForMs.get(name) ?? -1) >= config.registrationGraceMs)
          due.push({ runnerId, name, known, scope: seen.scope, worker: workers.get(name) });
      return true;
    },
  });
  const isStray = ({ worker }: LeftRegistration) => worker === undefined;
  const strays = Map.groupBy(due.filter(isStray), ({ known }) => known.login);
  const held = new Set<LeftRegistration>();
  for (const [login, some] of strays) {
    if (some.length <= config.strayRegistrationCap) continue;
    counts.overCap += some.length;
    for (const stray of some) held.add(stray);
    events.tooManyStrays(login, some.length, config.strayRegistrationCap);
  }
  const chosen = due.filter((one) => !held.has(one));
  const namespaces = strays.size === 0 ? [] : await findNamespaces(db);
  let tried = 0;
  await pass.walk(chosen, {
    entityOf: ({ known }) => known.entityId,
    keyOf: ({ name }) => name,
    waitsForTick: true,
    async visit(left, turn) {
      turn.isUnasked = ++tried > config.registrationsOfPass;
      if (turn.isUnasked) return false;
      const ask = askFor({ ...left.known, repoId: left.known.scopeRepoId }, turn);
      const where = left.worker === undefined ? namespaces : [left.worker.namespace];
      const result = await removeOne(context, left, { namespaces: where, counts, pass, ask });
      counts[result]++;
      return result !== 'failed';
    },
  });
  return done(counts);
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

/**
 * Checks GitHub, our rows and the cluster again before deleting, since the list may be minutes old.
 * The Secret goes first: without a row, only the registration has its name.
 */
async function removeOne(
  { db, cluster, events }: SweepContext,
  { runnerId, name, known, scope }: LeftRegistration,
  {
    namespaces,
    counts,
    pass,
    ask,
  }: { namespaces: readonly string[]; counts: { secrets: number }; pass: Pass; ask: Ask },
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
    if (isUnanswered(error.failure)) await pass.isAway('cluster');
    return 'failed';
  }
  if (found.runner === undefined) return 'left';
  const result = await ask(known.login, (client) => deleteRunner(client, scope, runnerId));
  if (result === undefined) return 'failed';
  if (result === 'deleted') events.registrationRemoved(name);
  return result === 'deleted' ? 'removed' : 'left';
}
