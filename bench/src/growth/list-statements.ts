import { listEntityActions } from '@paddock/api/actions/list-actions';
import { listGivenUp, listUnresolved } from '@paddock/api/deliveries/deliveries';
import { findDiagnosisFacts } from '@paddock/api/diagnoses/list-diagnoses';
import { findByName, findByNumber, findByUuid } from '@paddock/api/find/find';
import { findInstallationEvents } from '@paddock/api/installations/installations';
import { findJob } from '@paddock/api/jobs/job';
import { listActiveJobs, listJobs, listJobsByReason } from '@paddock/api/jobs/list-jobs';
import { findEntityByLogin, findRepositoryByName } from '@paddock/api/lists/named';
import { listFailedOperations, listOperationsOf } from '@paddock/api/operations/operation';
import { readLastHour } from '@paddock/api/pools/pools';
import { listPools } from '@paddock/api/pools/pools';
import { listDeliveryEvents, listEntityEvents, listJobEvents } from '@paddock/api/events/events';
import { findTracedEntity, findTracedInstallation, findTracedJob } from '@paddock/api/trace/trace';
import { listEntityOperations } from '@paddock/api/trace/read-trace';
import { findEventPayload } from '@paddock/api/events/events';
import { findUsageSummedAt, readUsage } from '@paddock/api/usage/usage';
import { findWorker } from '@paddock/api/workers/workers';
import { listWorkers } from '@paddock/api/workers/workers';
import { APP_ID } from '../programs.ts';
import type { PeriodicStatement } from './periodic-statements.ts';

const DAY_MS = 86_400_000;

/** The largest page, with one row more, as an endpoint reads it. */
const PAGE = { limit: 101, after: undefined };
const LONG_AGO = {
  ...PAGE,
  from: new Date(Date.now() - 200 * DAY_MS),
  to: new Date(Date.now() - 190 * DAY_MS),
};
const UUID = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
const MONTH = { from: new Date(Date.now() - 31 * DAY_MS), to: new Date() };
const RARE = 'timed_out';
/** Of the first entity: its App, and its installation. */
const PLACES = [
  { appId: APP_ID, installationId: 1 },
  { appId: APP_ID, installationId: null },
];

/** A list with each of these filters. */
const withEach = <Filter>(
  list: (
    trx: Parameters<PeriodicStatement>[0],
    filter: Filter,
    page: typeof PAGE,
  ) => Promise<unknown>,
  page: typeof PAGE,
  filters: readonly Filter[],
): Record<string, PeriodicStatement> =>
  Object.fromEntries(
    filters.map((filter) => [
      `${list.name} ${JSON.stringify(filter)}${page === PAGE ? '' : ' long ago'}`,
      (trx) => list(trx, filter, page),
    ]),
  );

/**
 * The lists that people ask for, by their function and what they filter: each index, and what is
 * rare or missing in it. They are not prepared, so that PostgreSQL plans them for their values.
 */
export const listStatements: Readonly<Record<string, PeriodicStatement>> = {
  ...withEach(listJobs, PAGE, [
    {},
    { isEnded: true },
    { conclusion: 'failure' },
    { conclusion: RARE },
    { conclusion: 'none' },
    { pool: 'pool-3' },
    { pool: 'pool-3', conclusion: RARE },
    { pool: 'none' },
    { entityId: 1 },
    { entityId: 1, conclusion: RARE },
    { isEnded: true, entityId: 1, pool: 'pool-0' },
    { repoId: 77 },
    { repoId: 77, workflow: 'Nightly', conclusion: 'failure' },
  ]),
  ...withEach(listJobs, LONG_AGO, [
    {},
    { isEnded: true, pool: 'pool-3' },
    { isEnded: true, entityId: 1 },
  ]),
  ...withEach(listActiveJobs, PAGE, [
    { state: 'waiting' },
    { state: 'running', entityId: 1, repoId: 77, pool: 'pool-3', workflow: 'CI' },
  ]),
  ...withEach(listActiveJobs, LONG_AGO, [{ state: 'waiting' }]),
  ...withEach(listJobsByReason, PAGE, [
    { reason: 'at_pool_cap' },
    { reason: 'none', pool: 'pool-3' },
  ]),
  findJob: (trx) => findJob(trx, 77),
  ...withEach(listWorkers, PAGE, [
    {},
    { state: 'failed' },
    { pool: 'pool-3' },
    { pool: 'pool-3', state: 'failed' },
    { entityId: 1 },
    { state: 'stopping' },
    { state: 'running', entityId: 1, pool: 'pool-0' },
  ]),
  ...withEach(listWorkers, LONG_AGO, [
    { state: 'ended' },
    { entityId: 1, pool: 'pool-0', state: 'failed' },
  ]),
  findWorker: (trx, { endedNames: [name = ''] }) => findWorker(trx, name),
  listPools: (trx) => listPools(trx),
  readLastHour: (trx) => readLastHour(trx),
  ...withEach(listEntityEvents, PAGE, [{ entityId: 1, places: PLACES }]),
  ...withEach(listEntityEvents, LONG_AGO, [{ entityId: 1, places: PLACES }]),
  listJobEvents: (trx) => listJobEvents(trx, 77, PAGE),
  listDeliveryEvents: (trx) => listDeliveryEvents(trx, UUID, PAGE),
  findEventPayload: (trx) => findEventPayload(trx, '77'),
  listEntityOperations: (trx) => listEntityOperations(trx, 1, PAGE),
  listOperationsOf: (trx, { endedNames: [id = ''] }) =>
    listOperationsOf(trx, { type: 'worker', id }, { ...PAGE, detail: true }),
  listFailedOperations: (trx) => listFailedOperations(trx, PAGE),
  'listFailedOperations of a kind': (trx) =>
    listFailedOperations(trx, { ...LONG_AGO, kind: 'stop-worker' }),
  listEntityActions: (trx) => listEntityActions(trx, 1, PAGE),
  findTracedEntity: (trx) => findTracedEntity(trx, 1),
  findTracedInstallation: (trx) => findTracedInstallation(trx, 1),
  findTracedJob: (trx) => findTracedJob(trx, 77),
  'readUsage by repository': (trx) => readUsage(trx, 'repository', MONTH, PAGE),
  'readUsage by workflow': (trx) => readUsage(trx, 'workflow', { ...MONTH, pool: 'pool-3' }, PAGE),
  'readUsage by pool': (trx) => readUsage(trx, 'pool', MONTH, PAGE),
  'readUsage by entity': (trx) => readUsage(trx, 'entity', MONTH, PAGE),
  findUsageSummedAt: (trx) => findUsageSummedAt(trx),
  findInstallationEvents: (trx) => findInstallationEvents(trx, 1),
  findDiagnosisFacts: (trx) =>
    findDiagnosisFacts(trx, { asked: { login: 'entity-1', repository: 'app' }, entityId: 1 }),
  listUnresolved: (trx) => listUnresolved(trx, PAGE),
  listGivenUp: (trx) => listGivenUp(trx, PAGE),
  'listUnresolved of a delivery': (trx) => listUnresolved(trx, { guid: UUID, limit: 100 }),
  findByNumber: (trx) => findByNumber(trx, 77),
  findByUuid: (trx) => findByUuid(trx, UUID),
  findByName: (trx) => findByName(trx, 'Entity-7'),
  findEntityByLogin: (trx) => findEntityByLogin(trx, 'Entity-7'),
  findRepositoryByName: (trx) => findRepositoryByName(trx, 'Entity/Repository-7'),
};
