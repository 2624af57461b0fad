import { listActionsEndpoint } from './actions/list-actions.ts';
import type { z } from 'zod';
import { describeApiEndpoint } from './description/describe-api.ts';
import type { Endpoint } from './endpoint.ts';
import {
  findInstallationEndpoint,
  listInstallationsEndpoint,
  resyncInstallationEndpoint,
} from './installations/installations.ts';
import {
  findDeliveryEndpoint,
  listRedeliveriesEndpoint,
  redeliverDeliveryEndpoint,
} from './deliveries/deliveries.ts';
import { findEndpoint } from './find/find.ts';
import { listDiagnosesEndpoint } from './diagnoses/list-diagnoses.ts';
import { listFindingsEndpoint } from './findings/findings.ts';
import { tryAgainEndpoint } from './diagnoses/try-again.ts';
import { listJobsEndpoint } from './jobs/list-jobs.ts';
import { findJobEndpoint } from './jobs/job.ts';
import { listOperationsEndpoint } from './operations/list-operations.ts';
import { countOperationsEndpoint, findOperationEndpoint } from './operations/operation.ts';
import {
  findRepositoryEndpoint,
  listRepositoriesEndpoint,
  resyncRepositoryEndpoint,
} from './repositories/repositories.ts';
import { listPoolsEndpoint } from './pools/pools.ts';
import { findPoolEndpoint } from './pools/pool.ts';
import { listNodesEndpoint } from './workers/nodes.ts';
import { drainEndpoint } from './workers/drain.ts';
import { findWorkerEndpoint, listWorkersEndpoint } from './workers/workers.ts';
import { listSweepsEndpoint, runSweepEndpoint } from './sweeps/sweeps.ts';
import { listSwitchesEndpoint, turnSwitchEndpoint } from './switches/switches.ts';
import {
  handleFailedOperationsEndpoint,
  handleOperationEndpoint,
} from './operations/failed-operations.ts';
import { createTokenEndpoint, listTokensEndpoint, revokeTokenEndpoint } from './tokens/tokens.ts';
import { endSessionsEndpoint, listSessionsEndpoint } from './sessions/sessions.ts';
import { traceEndpoint } from './trace/trace.ts';
import { traceEventEndpoint } from './events/events.ts';
import { countActiveEndpoint } from './usage/active.ts';
import { compareRunnersEndpoint } from './usage/compare.ts';
import { listUsageEndpoint } from './usage/usage.ts';
import { whyJobEndpoint, whyRunEndpoint } from './why/explain-job.ts';

/** Every question and action but those about tokens, in the order of the API's description. */
const SUBJECTS = [
  findEndpoint,
  listInstallationsEndpoint,
  findInstallationEndpoint,
  listRepositoriesEndpoint,
  findRepositoryEndpoint,
  listRedeliveriesEndpoint,
  findDeliveryEndpoint,
  listJobsEndpoint,
  findJobEndpoint,
  listWorkersEndpoint,
  findWorkerEndpoint,
  listNodesEndpoint,
  listPoolsEndpoint,
  findPoolEndpoint,
  listFindingsEndpoint,
  listDiagnosesEndpoint,
  tryAgainEndpoint,
  whyJobEndpoint,
  whyRunEndpoint,
  listUsageEndpoint,
  countActiveEndpoint,
  compareRunnersEndpoint,
  traceEndpoint,
  traceEventEndpoint,
  listOperationsEndpoint,
  countOperationsEndpoint,
  findOperationEndpoint,
  handleOperationEndpoint,
  handleFailedOperationsEndpoint,
  resyncInstallationEndpoint,
  resyncRepositoryEndpoint,
  redeliverDeliveryEndpoint,
  drainEndpoint,
  listSweepsEndpoint,
  runSweepEndpoint,
  listSwitchesEndpoint,
  turnSwitchEndpoint,
  listActionsEndpoint,
] as const satisfies readonly Endpoint[];

/** Those whose answers a program of ours reads. A token is narrowed to none of tokens and sessions. */
const ASKED = [
  ...SUBJECTS,
  createTokenEndpoint(SUBJECTS),
  listTokensEndpoint,
  revokeTokenEndpoint,
  listSessionsEndpoint,
  endSessionsEndpoint,
] as const;

type Asked = (typeof ASKED)[number];

export const API = Object.fromEntries(ASKED.map((one) => [one.name, one])) as {
  readonly [E in Asked as E['name']]: E;
};

export const ENDPOINTS: readonly Endpoint[] = [...ASKED, describeApiEndpoint(() => ENDPOINTS)];

export type AnswerOf<N extends keyof typeof API> = z.input<(typeof API)[N]['output']>;

export type Item<N extends keyof typeof API> =
  AnswerOf<N> extends { readonly items: readonly (infer I)[] } ? I : never;
