import { listActionsEndpoint } from './actions/list-actions.ts';
import { describeApiEndpoint } from './description/describe-api-endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { resyncInstallationEndpoint } from './installations/resync-installation.ts';
import { findDeliveryEndpoint } from './deliveries/find-delivery.ts';
import { findEndpoint } from './find/find.ts';
import { listGivenUpEndpoint, listRedeliveriesEndpoint } from './deliveries/list-redeliveries.ts';
import { listDiagnosesEndpoint } from './diagnoses/list-diagnoses.ts';
import { findInstallationEndpoint } from './installations/find-installation.ts';
import { listInstallationsEndpoint } from './installations/list-installations.ts';
import { countWaitsEndpoint } from './jobs/count-waits.ts';
import { findJobEndpoint } from './jobs/find-job.ts';
import { listJobsEndpoint } from './jobs/list-jobs.ts';
import { countOperationsEndpoint } from './operations/count-operations.ts';
import { findOperationEndpoint } from './operations/find-operation.ts';
import {
  listFailedOperationsEndpoint,
  listOperationsEndpoint,
} from './operations/list-operations.ts';
import { findResyncEndpoint } from './repositories/find-resync.ts';
import { resyncRepositoryEndpoint } from './repositories/resync-repository.ts';
import { redeliverDeliveryEndpoint } from './deliveries/redeliver-delivery.ts';
import { drainPoolEndpoint } from './pools/drain-pool.ts';
import { drainWorkerEndpoint } from './workers/drain-worker.ts';
import { runSweepEndpoint } from './sweeps/run-sweep.ts';
import { liftSwitchEndpoint } from './switches/lift-switch.ts';
import { listSwitchesEndpoint } from './switches/list-switches.ts';
import { setSwitchEndpoint } from './switches/set-switch.ts';
import { discardOperationEndpoint } from './operations/discard-operation.ts';
import { handleFailedOperationsEndpoint } from './operations/handle-failed-operations.ts';
import { retryOperationEndpoint } from './operations/retry-operation.ts';
import { createTokenEndpoint } from './tokens/create-token.ts';
import { listTokensEndpoint } from './tokens/list-tokens.ts';
import { endSessionsEndpoint } from './sessions/end-sessions.ts';
import { listSessionsEndpoint } from './sessions/list-sessions.ts';
import { revokeTokenEndpoint } from './tokens/revoke-token.ts';
import { lastHourEndpoint } from './pools/last-hour.ts';
import { listPoolsEndpoint } from './pools/list-pools.ts';
import { findWorkerEndpoint } from './workers/find-worker.ts';
import { listWorkersEndpoint } from './workers/list-workers.ts';
import { traceEndpoint } from './trace/trace.ts';
import { traceEventEndpoint } from './events/find-event.ts';
import { exportUsageEndpoint } from './usage/export-usage.ts';
import { listUsageEndpoint } from './usage/list-usage.ts';
import { whyJobEndpoint } from './why/why-job.ts';
import { whyRunEndpoint } from './why/why-run.ts';

/** Every question and action but those about tokens, in the order of the API's description. */
const SUBJECTS: readonly Endpoint[] = [
  findEndpoint,
  listInstallationsEndpoint,
  findInstallationEndpoint,
  listRedeliveriesEndpoint,
  listGivenUpEndpoint,
  findDeliveryEndpoint,
  listJobsEndpoint,
  findJobEndpoint,
  countWaitsEndpoint,
  listWorkersEndpoint,
  findWorkerEndpoint,
  listPoolsEndpoint,
  lastHourEndpoint,
  listDiagnosesEndpoint,
  whyJobEndpoint,
  whyRunEndpoint,
  listUsageEndpoint,
  exportUsageEndpoint,
  traceEndpoint,
  traceEventEndpoint,
  listOperationsEndpoint,
  listFailedOperationsEndpoint,
  countOperationsEndpoint,
  findOperationEndpoint,
  retryOperationEndpoint,
  discardOperationEndpoint,
  handleFailedOperationsEndpoint,
  resyncInstallationEndpoint,
  findResyncEndpoint,
  resyncRepositoryEndpoint,
  redeliverDeliveryEndpoint,
  drainWorkerEndpoint,
  drainPoolEndpoint,
  runSweepEndpoint,
  listSwitchesEndpoint,
  setSwitchEndpoint,
  liftSwitchEndpoint,
  listActionsEndpoint,
];

/** A token is narrowed to none of the endpoints of tokens and sessions. */
export const createToken = createTokenEndpoint(SUBJECTS);

/** All of the API. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...SUBJECTS,
  createToken,
  listTokensEndpoint,
  revokeTokenEndpoint,
  listSessionsEndpoint,
  endSessionsEndpoint,
  describeApiEndpoint(() => ENDPOINTS),
];
