import { findPassMemory, type PassMemory } from '@paddock/db/schedules/sweep-states';
import { startSimulatedCluster } from '@paddock/kube/scenes/simulated-cluster.scene';
import { ACME, TOOL } from '@paddock/github/scenes/small-world.scene';
import type { RegistrationScope } from '@paddock/github/runners';
import { startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { TestDatabase } from '@paddock/testing/database';
import { minutesAgo, putWorker } from '@paddock/testing/demand-rows';
import { emptyAll } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { removeRegistrations } from '../workers/remove-registrations.ts';
import {
  accountOf,
  BY_HAND,
  type Given,
  outputOf,
  usualRunners,
  useScene,
  usualSweeps,
} from './sweep.scene.ts';

type WorkerRow = Parameters<typeof putWorker>[1];

/**
 * A simulated GitHub and cluster with registrations that have names of our form, and passes of the
 * sweep.
 */
async function startRegistrationsScene(database: TestDatabase) {
  const { db } = database;
  await emptyAll(db);
  const instance = (await db.selectFrom('instance').select('instance_id').executeTakeFirstOrThrow())
    .instance_id;
  const world = await startSmallWorld();
  const { kube, cluster, stop } = await startSimulatedCluster();
  const config = { registrationGraceMs: 3_600_000, registrationsOfPass: 50 };
  const { github, told, begin, contextOf } = usualSweeps(database, world, { config, cluster });
  const runners = usualRunners(world, github);
  /**
   * Makes a worker that makes its scope a known one. Unless told otherwise it has ended, and its
   * registration with it.
   */
  const knowScope = (
    scope: RegistrationScope,
    { status = 'completed', ...given }: WorkerRow = {},
  ) =>
    putWorker(db, {
      status,
      completed_at: status === 'running' ? null : minutesAgo(1),
      registered_at: minutesAgo(10),
      ...accountOf(world, scope === ACME ? world.organization : world.user),
      scope_repo_id: scope === ACME ? 0 : world.repositories.tool,
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
  /** Makes a registration; unless told otherwise it has a name of our form and no worker. */
  const register = async (
    scope: RegistrationScope = ACME,
    name = `pdk-${instance}-linux-f${String(++lastName).padStart(11, '0')}`,
  ) => ({ name, ...(await runners.register(name, scope === TOOL)) });
  return {
    world,
    github,
    kube,
    cluster,
    instance,
    /** The sweep's reports. */
    told,
    async sweep(given: Given = {}) {
      await setSeen(await readSeen());
      const begun = await begin(given);
      const outcome = await removeRegistrations(contextOf(given), begun.pass);
      if (given.dryRun !== true) await setSeen(begun.end().memory.seen);
      return outputOf(outcome);
    },
    knowScope,
    register,
    /** Makes a worker that has failed and left its registration. */
    async fail(scope: RegistrationScope = ACME, given: WorkerRow = {}) {
      const { pod_name: name } = await knowScope(scope, { status: 'failed', ...given });
      return register(scope, name);
    },
    runners: async () => (await world.github.truth()).runners.map(({ name }) => name).toSorted(),
    /** Names of registrations that the last list showed unused. */
    noted: async () =>
      Object.values(await readSeen())
        .flatMap((names) => Object.keys(names))
        .toSorted(),
    /** Lets hours pass since the lists so far. */
    passHours: async () =>
      setSeen(
        mapValues(await readSeen(), (names) => mapValues(names, (since) => since - 2 * HOUR_MS)),
      ),
    play: runners.play,
    async stop(): Promise<void> {
      await runners.stopRunners();
      await Promise.all([world.github.stop(), stop()]);
    },
  };
}

export type RegistrationsScene = Awaited<ReturnType<typeof startRegistrationsScene>>;

export const useRegistrationsScene = (database: TestDatabase): RegistrationsScene =>
  useScene(() => startRegistrationsScene(database));

const HOUR_MS = 3_600_000;

const mapValues = <T, U>(given: Readonly<Record<string, T>>, change: (value: T) => U) =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, change(value)]));
