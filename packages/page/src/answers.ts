import type { listActionsEndpoint } from '@paddock/api/actions/list-actions';
import type {
  findDeliveryEndpoint,
  listRedeliveriesEndpoint,
} from '@paddock/api/deliveries/deliveries';
import type { listDiagnosesEndpoint } from '@paddock/api/diagnoses/list-diagnoses';
import type { findEndpoint } from '@paddock/api/find/find';
import type {
  findInstallationEndpoint,
  listInstallationsEndpoint,
} from '@paddock/api/installations/installations';
import type { countWaitsEndpoint, listJobsEndpoint } from '@paddock/api/jobs/list-jobs';
import type { findJobEndpoint } from '@paddock/api/jobs/job';
import type { listOperationsEndpoint } from '@paddock/api/operations/list-operations';
import type {
  countOperationsEndpoint,
  findOperationEndpoint,
} from '@paddock/api/operations/operation';
import type { findPoolEndpoint } from '@paddock/api/pools/pool';
import type { lastHourEndpoint, listPoolsEndpoint } from '@paddock/api/pools/pools';
import type { handleFailedOperationsEndpoint } from '@paddock/api/operations/failed-operations';
import type {
  findRepositoryEndpoint,
  listRepositoriesEndpoint,
} from '@paddock/api/repositories/repositories';
import type { listSwitchesEndpoint } from '@paddock/api/switches/switches';
import type { createToken } from '@paddock/api/endpoints';
import type { endSessionsEndpoint } from '@paddock/api/sessions/sessions';
import type { listSweepsEndpoint } from '@paddock/api/sweeps/list-sweeps';
import type { listTokensEndpoint } from '@paddock/api/tokens/tokens';
import type { traceEndpoint } from '@paddock/api/trace/trace';
import type { traceEventEndpoint } from '@paddock/api/events/events';
import type { countActiveEndpoint } from '@paddock/api/usage/active';
import type { listUsageEndpoint } from '@paddock/api/usage/usage';
import type { whyJobEndpoint } from '@paddock/api/why/explain-job';
import type { listNodesEndpoint } from '@paddock/api/workers/nodes';
import type { findWorkerEndpoint, listWorkersEndpoint } from '@paddock/api/workers/workers';
import type { z } from 'zod';

// Types alone: nothing of the API's code is in the page.
type Output<E extends { readonly output: z.ZodType }> = z.input<E['output']>;
type Item<
  E extends { readonly output: z.ZodType<unknown, { readonly items: readonly unknown[] }> },
> = Output<E>['items'][number];

/** A whole list. */
export interface Items<T> {
  readonly items: readonly T[];
}

/** A page of a list. */
export interface List<T> extends Items<T> {
  readonly next: string | null;
}

export type Pool = Item<typeof listPoolsEndpoint>;
export type OnePool = Output<typeof findPoolEndpoint>;
export type NodeRow = Item<typeof listNodesEndpoint>;
export type LastHour = Output<typeof lastHourEndpoint>;
export type PoolHour = LastHour['items'][number];
export type JobRow = Item<typeof listJobsEndpoint>;
export type Waits = Output<typeof countWaitsEndpoint>;
export type Job = Output<typeof findJobEndpoint>;
export type Why = Output<typeof whyJobEndpoint>;
export type WorkerRow = Item<typeof listWorkersEndpoint>;
export type Worker = Output<typeof findWorkerEndpoint>;
export type OperationRow = Item<typeof listOperationsEndpoint>;
export type HandledFailed = Output<typeof handleFailedOperationsEndpoint>;
export type Operation = Output<typeof findOperationEndpoint>;
export type Installation = Item<typeof listInstallationsEndpoint>;
export type Action = Item<typeof listActionsEndpoint>;
export type Token = Item<typeof listTokensEndpoint>;
export type MadeToken = Output<typeof createToken>;
export type EndedSessions = Output<typeof endSessionsEndpoint>;
export type OperationCount = Item<typeof countOperationsEndpoint>;
export type Sweep = Item<typeof listSweepsEndpoint>;
export type Switch = Item<typeof listSwitchesEndpoint>;
export type Diagnoses = Output<typeof listDiagnosesEndpoint>;
export type RepositoryRow = Item<typeof listRepositoriesEndpoint>;
export type Repository = Output<typeof findRepositoryEndpoint>;
export type Diagnosis = Item<typeof listDiagnosesEndpoint>;
export type Found = Item<typeof findEndpoint>;
export type Delivery = Output<typeof findDeliveryEndpoint>;
export type FailedDelivery = Item<typeof listRedeliveriesEndpoint>;
export type OneInstallation = Output<typeof findInstallationEndpoint>;
export type Trace = Output<typeof traceEndpoint>;
export type TraceItem = Trace['items'][number];
export type EventPayload = Output<typeof traceEventEndpoint>;
export type Usage = Output<typeof listUsageEndpoint>;
export type UsageRow = Usage['items'][number];
export type ActiveRow = Item<typeof countActiveEndpoint>;

/** Why the API did not do what was asked (RFC 9457), or why no answer came: status 0. */
export interface Trouble {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly { readonly place: string; readonly message: string }[];
}
