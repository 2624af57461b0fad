import { listEntityActions } from '@paddock/api/actions/list-actions';
import {
  findUnresolvedByGuid,
  listGivenUp,
  listUnresolved,
} from '@paddock/api/deliveries/deliveries';
import { findDiagnosisFacts } from '@paddock/api/diagnoses/list-diagnoses';
import { findByName, findByNumber, findByUuid } from '@paddock/api/find/find';
import { findInstallationEvents } from '@paddock/api/installations/installations';
import { findJob } from '@paddock/api/jobs/job';
import { listActiveJobs, listJobs, listJobsByReason } from '@paddock/api/jobs/list-jobs';
import { findEntityByLogin, findRepositoryByName } from '@paddock/api/lists/named';
import { listFailedOperations, listOperationsOf } from '@paddock/api/operations/list-operations';
import { listPools, readLastHour } from '@paddock/api/pools/pools';
import * as events from '@paddock/api/events/events';
import {
  findTracedEntity,
  findTracedInstallation,
  findTracedJob,
} from '@paddock/api/trace/find-traced';
import { listEntityOperations } from '@paddock/api/trace/read-trace';
import { findUsageSummedAt, readUsage } from '@paddock/api/usage/usage';
import { findWorker, listWorkers } from '@paddock/api/workers/workers';
import { APP_ID } from '../app-id.ts';
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
const isEnded = true;
/** Of the first entity: its App, and its installation. */
const PLACES = [
  { appId: APP_ID, installationId: 1 },
  { appId: APP_ID, installationId: null },
];

/**
 * The lists that people ask for, by what they filter: each index, and what is rare or missing in
 * it. They are not prepared, so that PostgreSQL plans them for their values.
 */
export const listStatements = {
  allJobs: (trx) => listJobs(trx, {}, PAGE),
  endedJobs: (trx) => listJobs(trx, { isEnded }, PAGE),
  jobsOfOldDays: (trx) => listJobs(trx, {}, LONG_AGO),
  failedJobs: (trx) => listJobs(trx, { conclusion: 'failure' }, PAGE),
  jobsOfRareConclusion: (trx) => listJobs(trx, { conclusion: 'timed_out' }, PAGE),
  jobsOfUnknownConclusion: (trx) => listJobs(trx, { conclusion: 'none' }, PAGE),
  jobsOfPool: (trx) => listJobs(trx, { pool: 'pool-3' }, PAGE),
  jobsOfPoolOfOldDays: (trx) => listJobs(trx, { isEnded, pool: 'pool-3' }, LONG_AGO),
  jobsOfPoolOfRareConclusion: (trx) =>
    listJobs(trx, { pool: 'pool-3', conclusion: 'timed_out' }, PAGE),
  jobsOfUnknownPool: (trx) => listJobs(trx, { pool: 'none' }, PAGE),
  jobsOfEntity: (trx) => listJobs(trx, { entityId: 1 }, PAGE),
  jobsOfEntityOfRareConclusion: (trx) =>
    listJobs(trx, { entityId: 1, conclusion: 'timed_out' }, PAGE),
  jobsOfEntityOfOldDays: (trx) => listJobs(trx, { isEnded, entityId: 1 }, LONG_AGO),
  jobsOfEntityAndPool: (trx) => listJobs(trx, { isEnded, entityId: 1, pool: 'pool-0' }, PAGE),
  jobsOfRepository: (trx) => listJobs(trx, { repoId: 77 }, PAGE),
  jobsOfWorkflow: (trx) =>
    listJobs(trx, { repoId: 77, workflow: 'Nightly', conclusion: 'failure' }, PAGE),
  waitingJobs: (trx) => listActiveJobs(trx, { state: 'waiting' }, PAGE),
  waitingJobsOfOldDays: (trx) => listActiveJobs(trx, { state: 'waiting' }, LONG_AGO),
  waitingJobsOfReason: (trx) => listJobsByReason(trx, { reason: 'at_pool_cap' }, PAGE),
  waitingJobsOfNoReason: (trx) => listJobsByReason(trx, { reason: null, pool: 'pool-3' }, PAGE),
  runningJobsOfAll: (trx) =>
    listActiveJobs(
      trx,
      { state: 'running', entityId: 1, repoId: 77, pool: 'pool-3', workflow: 'CI' },
      PAGE,
    ),
  oneJob: (trx) => findJob(trx, 77),
  allWorkers: (trx) => listWorkers(trx, {}, PAGE),
  endedWorkersOfOldDays: (trx) => listWorkers(trx, { state: 'ended' }, LONG_AGO),
  failedWorkers: (trx) => listWorkers(trx, { state: 'failed' }, PAGE),
  workersOfPool: (trx) => listWorkers(trx, { pool: 'pool-3' }, PAGE),
  failedWorkersOfPool: (trx) => listWorkers(trx, { pool: 'pool-3', state: 'failed' }, PAGE),
  workersOfEntity: (trx) => listWorkers(trx, { entityId: 1 }, PAGE),
  failedWorkersOfEntityAndPool: (trx) =>
    listWorkers(trx, { entityId: 1, pool: 'pool-0', state: 'failed' }, LONG_AGO),
  stoppingWorkers: (trx) => listWorkers(trx, { state: 'stopping' }, PAGE),
  runningWorkersOfEntityAndPool: (trx) =>
    listWorkers(trx, { state: 'running', entityId: 1, pool: 'pool-0' }, PAGE),
  oneWorker: (trx, { endedNames: [name = ''] }) => findWorker(trx, name),
  allPools: (trx) => listPools(trx),
  lastHour: (trx) => readLastHour(trx),
  eventsOfEntity: (trx) => events.listEntityEvents(trx, { entityId: 1, places: PLACES }, PAGE),
  eventsOfEntityOfOldDays: (trx) =>
    events.listEntityEvents(trx, { entityId: 1, places: PLACES }, LONG_AGO),
  tracedEventsOfJob: (trx) => events.listJobEvents(trx, 77, PAGE),
  eventsOfDelivery: (trx) => events.listDeliveryEvents(trx, UUID, PAGE),
  payloadOfEvent: (trx) => events.findEventPayload(trx, '77'),
  operationsOfEntity: (trx) => listEntityOperations(trx, 1, PAGE),
  operationsOfSubject: (trx, { endedNames: [id = ''] }) =>
    listOperationsOf(trx, { type: 'worker', id }, { ...PAGE, hasDetail: true }),
  failedOperations: (trx) => listFailedOperations(trx, PAGE),
  failedOperationsOfKind: (trx) => listFailedOperations(trx, { ...LONG_AGO, kind: 'stop-worker' }),
  actionsOfEntity: (trx) => listEntityActions(trx, 1, PAGE),
  tracedEntity: (trx) => findTracedEntity(trx, 1),
  tracedInstallation: (trx) => findTracedInstallation(trx, 1),
  tracedJob: (trx) => findTracedJob(trx, 77),
  usageOfRepositories: (trx) => readUsage(trx, 'repository', MONTH, PAGE),
  usageOfWorkflowsInPool: (trx) => readUsage(trx, 'workflow', { ...MONTH, pool: 'pool-3' }, PAGE),
  usageOfPools: (trx) => readUsage(trx, 'pool', MONTH, PAGE),
  usageOfEntities: (trx) => readUsage(trx, 'entity', MONTH, PAGE),
  usageSummedAt: (trx) => findUsageSummedAt(trx),
  eventsOfInstallation: (trx) => findInstallationEvents(trx, 1),
  diagnosisFacts: (trx) =>
    findDiagnosisFacts(trx, {
      asked: { login: 'entity-1', repository: 'app' },
      entityId: 1,
    }),
  unresolvedDeliveries: (trx) => listUnresolved(trx, PAGE),
  givenUpDeliveries: (trx) => listGivenUp(trx, PAGE),
  unresolvedDelivery: (trx) => findUnresolvedByGuid(trx, UUID),
  byNumber: (trx) => findByNumber(trx, 77),
  byUuid: (trx) => findByUuid(trx, UUID),
  byName: (trx) => findByName(trx, 'Entity-7'),
  entityByLogin: (trx) => findEntityByLogin(trx, 'Entity-7'),
  repositoryByName: (trx) => findRepositoryByName(trx, 'Entity/Repository-7'),
} satisfies Readonly<Record<string, PeriodicStatement>>;
