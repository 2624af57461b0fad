import { createWaits } from '@paddock/db/entities/waits';
import { findPassMemory, type PassMemory } from '@paddock/db/schedules/sweep-states';
import type { Database } from '@paddock/db/schema/tables';
import { connectSmallWorld } from '@paddock/github/scenes/connect-small-world.scene';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import type { GitHub } from '@paddock/github/connect';
import { createJitConfig } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import {
  type KubeSimulator,
  startKubeSimulator,
} from '@paddock/simulators/kube/start-kube-simulator';
import { emptyTables } from '@paddock/testing/empty-tables';
import type { TestDatabase } from '@paddock/testing/database';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { type Kysely, sql } from 'kysely';
import { beginByHand, BY_HAND, type Given, githubIsAway } from './pass.scene.ts';
import {
  removeRegistrations,
  type RemovedRegistrationsCounts,
  type RemoveRegistrationsOptions,
} from '../workers/remove-registrations.ts';

export const ACME: RegistrationScope = { kind: 'organization', owner: 'acme' };
export const TOOL: RegistrationScope = { kind: 'repository', owner: 'mona', repo: 'tool' };

/**
 * A simulated GitHub and cluster with registrations that have names of our form, and passes of the
 * sweep; for tests.
 */
export interface RegistrationsScene {
  readonly world: SmallWorld;
  readonly github: GitHub;
  readonly kube: KubeSimulator;
  readonly cluster: Cluster;
  readonly instance: string;
  /** The sweep's reports. */
  readonly told: string[];
  sweep(more?: Given<RemoveRegistrationsOptions>): Promise<RemovedRegistrationsCounts>;
  /**
   * Makes a worker that makes its scope a known one. Unless told otherwise it has ended, and its
   * registration with it.
   */
  knowScope(
    scope: RegistrationScope,
    given?: Parameters<typeof putWorker>[1],
  ): ReturnType<typeof putWorker>;
  /** Makes a registration; unless told otherwise it has a name of our form and no worker. */
  register(
    scope?: RegistrationScope,
    name?: string,
  ): Promise<{ name: string; jitConfig: string; runnerId: number }>;
  /** Makes a worker that has failed and left its registration. */
  fail(
    scope?: RegistrationScope,
    given?: Parameters<typeof putWorker>[1],
  ): Promise<{ name: string; jitConfig: string }>;
  /** Names of GitHub's runners. */
  runners(): Promise<string[]>;
  /** Names of registrations that the last list showed unused. */
  noted(): Promise<string[]>;
  /** Lets hours pass since the lists so far. */
  passHours(): Promise<unknown>;
  stop(): Promise<void>;
}

/** In a test's own database; rows of an earlier scene are removed. */
export async function startRegistrationsScene(database: TestDatabase): Promise<RegistrationsScene> {
  const { db } = database;
  // The sweep has the reconciler's rights; the test's own statements may do anything.
  const own = database.dbOf('reconciler');
  await emptyTables(db, [
    'workers',
    'installation_events',
    'installations',
    'apps',
    'repositories',
    'demand_keys',
    'schedules',
  ]);
  const instance = (await db.selectFrom('instance').select('instance_id').executeTakeFirstOrThrow())
    .instance_id;
  const [world, kube] = [await startSmallWorld(), await startKubeSimulator()];
  const github = connectSmallWorld(world, { waits: createWaits(own, () => undefined) });
  const cluster = connectCluster({
    kubeconfigFile: kube.writeKubeconfig(),
    requestTimeoutMs: 60_000,
  });
  const told: string[] = [];
  const events: RemoveRegistrationsOptions['events'] = {
    registrationRemoved: (name) => void told.push(`removed ${name}`),
    registrationsNotChecked: (entity, failure) => void told.push(`${entity}: ${failure?.kind}`),
    registrationsMissing: (entity) => void told.push(`${entity}: runners missing`),
    registrationSecretNotRemoved: (name, { kind }) => void told.push(`Secret ${name}: ${kind}`),
    tooManyStrays: (count, cap) => void told.push(`${count} are more than ${cap}`),
  };
  const options = {
    madeWithinMs: 86_400_000,
    graceMs: 3_600_000,
    cap: 50,
    strayCap: 50,
  };
  const entityOf = (scope: RegistrationScope) =>
    scope.kind === 'organization' ? world.organization : world.user;
  const knowScope: RegistrationsScene['knowScope'] = (
    scope,
    { status = 'completed', ...given } = {},
  ) =>
    putWorker(db, {
      status,
      completed_at: status === 'running' ? null : minutesAgo(1),
      registered_at: minutesAgo(10),
      app_id: world.appId,
      installation_id: entityOf(scope).installationId,
      entity_id: entityOf(scope).id,
      entity_name: entityOf(scope).login,
      entity_type: scope.kind === 'organization' ? 'Organization' : 'User',
      scope_repo_id: scope.kind === 'organization' ? 0 : world.repositories.tool,
      ...given,
    });
  // Schedules of other names know the same lists.
  await db.insertInto('schedules').values({ name: BY_HAND, last_tick_at: new Date() }).execute();
  const readSeen = async () => (await findPassMemory(db, BY_HAND)).seen;
  const setSeen = (seen: PassMemory['seen']) =>
    sql`update schedules set last_pass = last_pass || ${JSON.stringify({ seen })}::jsonb`.execute(
      db,
    );
  let lastName = 0;
  const register: RegistrationsScene['register'] = async (
    scope = ACME,
    name = `pdk-${instance}-linux-f${String(++lastName).padStart(11, '0')}`,
  ) => {
    const made = await createJitConfig(github.asInstallation(entityOf(scope)), scope, {
      name,
      labels: ['linux'],
      runnerGroupId: 1,
    });
    return { name, ...made };
  };
  return {
    world,
    github,
    kube,
    cluster,
    instance,
    told,
    async sweep({ dryRun = false, pass = {}, ...more } = {}) {
      await setSeen(await readSeen());
      const begun = await beginByHand(own, { isAway: githubIsAway(github), dryRun, ...pass });
      const given = { db: own, github, cluster, events, ...options, ...more };
      const counts = await removeRegistrations(given, begun.pass);
      if (!dryRun) await setSeen(begun.end().memory.seen);
      return counts;
    },
    knowScope,
    register,
    async fail(scope = ACME, given = {}) {
      const { pod_name: name } = await knowScope(scope, { status: 'failed', ...given });
      return register(scope, name);
    },
    runners: async () => (await world.github.truth()).runners.map(({ name }) => name).toSorted(),
    noted: async () =>
      Object.values(await readSeen())
        .flatMap((names) => Object.keys(names))
        .toSorted(),
    passHours: async () =>
      setSeen(
        mapValues(await readSeen(), (names) => mapValues(names, (since) => since - 2 * HOUR_MS)),
      ),
    async stop() {
      cluster.close();
      await Promise.all([world.github.stop(), kube.stop()]);
    },
  };
}

const HOUR_MS = 3_600_000;

const mapValues = <T, U>(given: Readonly<Record<string, T>>, change: (value: T) => U) =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, change(value)]));

/** Whether a worker of this name has a row. */
export const isKnown = async (db: Kysely<Database>, name: string) =>
  (await db.selectFrom('workers').select('pod_name').where('pod_name', '=', name).execute())
    .length > 0;
