import type { Database } from '@paddock/db/schema/tables';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import type { Kysely } from 'kysely';
import { settle, withoutIndexes } from '../fill-tables.ts';
import { putActive } from '../growth/active.ts';
import { NAMESPACE, POOLS } from '../growth/year-columns.ts';
import { putEvents, putInstallations, putRedeliveries, putRepositories } from './fill-events.ts';
import { putActions, putOperations } from './fill-operations.ts';
import { putEndedJobs, putEndedWorkers, putUsage } from './fill-work.ts';
import type { ConsoleSizes } from './skewed-year.ts';

/** Jobs that wait, and workers that live: half of the one large entity. */
const ACTIVE = 1_000;

/** A year of rows, and something going on. `db` has three connections. */
export async function fillConsole(db: Kysely<Database>, sizes: ConsoleSizes): Promise<void> {
  const { entities } = sizes;
  const pools = POOLS.map((name) => ({
    name,
    labels: ['self-hosted', name],
    namespace: NAMESPACE,
  }));
  await putPools(db, examplePools({ pools, entities: { '*': { maxWorkers: 100 } } }));
  await putInstallations(db, entities);
  await Promise.all([
    withoutIndexes(db, ['jobs'], () => putEndedJobs(db, sizes)),
    withoutIndexes(db, ['installation_events'], () => putEvents(db, sizes)),
  ]);
  await Promise.all([
    withoutIndexes(db, ['workers'], () => putEndedWorkers(db, sizes)),
    withoutIndexes(db, ['operations'], () => putOperations(db, sizes)),
    putUsage(db),
  ]);
  await putRepositories(db);
  await putRedeliveries(db, entities);
  await putActions(db, entities);
  await putActive(db, { entities: 1, waiting: ACTIVE, living: ACTIVE });
  await putActive(db, { entities, waiting: ACTIVE, living: ACTIVE });
  await settle(db);
}
