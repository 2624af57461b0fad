import { createWaits } from '@paddock/db/entities/waits';
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
import { type Given, githubIsAway, passOf } from './pass.scene.ts';
import {
  removeStrayRegistrations,
  type RemoveStrayRegistrationsOptions,
  type StrayRegistrationsCounts,
} from '../workers/remove-stray-registrations.ts';

export const ACME: RegistrationScope = { kind: 'organization', owner: 'acme' };
export const TOOL: RegistrationScope = { kind: 'repository', owner: 'mona', repo: 'tool' };

/**
 * A simulated GitHub and cluster with registrations that have names of our form, and passes of the
 * sweep; for tests.
 */
export interface StrayScene {
  readonly world: SmallWorld;
  readonly github: GitHub;
  readonly kube: KubeSimulator;
  readonly cluster: Cluster;
  readonly instance: string;
  /** The sweep's reports. */
  readonly told: string[];
  sweep(more?: Given<RemoveStrayRegistrationsOptions>): Promise<StrayRegistrationsCounts>;
  /**
   * Makes a worker that makes its scope a known one. Unless told otherwise it has ended, and its
   * registration with it.
   */
  knowScope(
    scope: RegistrationScope,
    given?: { status?: 'running' | 'completed'; podName?: string },
  ): ReturnType<typeof putWorker>;
  /** Makes a registration that has a name of our form and no worker. */
  register(scope?: RegistrationScope, name?: string): Promise<{ name: string; jitConfig: string }>;
  /** Names of GitHub's runners. */
  runners(): Promise<string[]>;
  /** How often each stray was seen. */
  sightings(): Promise<number[]>;
  passHours(): Promise<unknown>;
  stop(): Promise<void>;
}

/** In a test's own database; rows of an earlier scene are removed. */
export async function startStrayScene(database: TestDatabase): Promise<StrayScene> {
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
    'stray_registrations',
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
  const events: RemoveStrayRegistrationsOptions['events'] = {
    strayRegistrationRemoved: (name) => void told.push(`removed ${name}`),
    strayRegistrationsNotChecked: (entity, failure) =>
      void told.push(`${entity}: ${failure?.kind}`),
    runnersMissing: (entity) => void told.push(`${entity}: runners missing`),
    straySecretNotRemoved: (name, { kind }) => void told.push(`Secret ${name}: ${kind}`),
    tooManyStrays: (count, cap) => void told.push(`${count} are more than ${cap}`),
  };
  const options = {
    madeWithinMs: 86_400_000,
    graceMs: 3_600_000,
    cap: 50,
  };
  const entityOf = (scope: RegistrationScope) =>
    scope.kind === 'organization' ? world.organization : world.user;
  let lastName = 0;
  return {
    world,
    github,
    kube,
    cluster,
    instance,
    told,
    sweep: async ({ dryRun = false, pass = {}, ...more } = {}) =>
      removeStrayRegistrations(
        { db: own, github, cluster, events, ...options, ...more },
        await passOf(own, { isAway: githubIsAway(github), dryRun, ...pass }),
      ),
    knowScope: (scope, { status = 'completed', podName } = {}) =>
      putWorker(db, {
        ...(podName === undefined ? {} : { pod_name: podName }),
        status,
        completed_at: status === 'completed' ? minutesAgo(1) : null,
        registered_at: minutesAgo(10),
        app_id: world.appId,
        installation_id: entityOf(scope).installationId,
        entity_id: entityOf(scope).id,
        entity_name: entityOf(scope).login,
        entity_type: scope.kind === 'organization' ? 'Organization' : 'User',
        scope_repo_id: scope.kind === 'organization' ? 0 : world.repositories.tool,
      }),
    async register(
      scope = ACME,
      name = `pdk-${instance}-linux-f${String(++lastName).padStart(11, '0')}`,
    ) {
      const client = github.asInstallation(entityOf(scope));
      const { jitConfig } = await createJitConfig(client, scope, {
        name,
        labels: ['linux'],
        runnerGroupId: 1,
      });
      return { name, jitConfig };
    },
    runners: async () => (await world.github.truth()).runners.map(({ name }) => name).toSorted(),
    sightings: async () =>
      (await db.selectFrom('stray_registrations').select('sightings').execute()).map(
        (row) => row.sightings,
      ),
    passHours: () =>
      sql`update stray_registrations set first_seen_at = first_seen_at - interval '2 hours'`.execute(
        db,
      ),
    async stop() {
      cluster.close();
      await Promise.all([world.github.stop(), kube.stop()]);
    },
  };
}

/** Whether a worker of this name has a row. */
export const isKnown = async (db: Kysely<Database>, name: string) =>
  (await db.selectFrom('workers').select('pod_name').where('pod_name', '=', name).execute())
    .length > 0;
