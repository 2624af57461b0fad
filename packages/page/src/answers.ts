import type { Asked } from '@paddock/api/endpoints';
import type { z } from 'zod';

// Types alone: nothing of the API's code is in the page.
type Output<N extends Asked['name']> = z.input<Extract<Asked, { readonly name: N }>['output']>;
type Item<N extends Asked['name']> =
  Output<N> extends { readonly items: readonly (infer I)[] } ? I : never;

/** A whole list. */
export interface Items<T> {
  readonly items: readonly T[];
}

/** A page of a list. */
export interface List<T> extends Items<T> {
  readonly next: string | null;
}

export type Pool = Item<'listPools'>;
export type OnePool = Output<'findPool'>;
export type NodeRow = Item<'listNodes'>;
export type LastHour = Output<'lastHour'>;
export type PoolHour = LastHour['items'][number];
export type JobRow = Item<'listJobs'>;
export type Waits = Output<'countWaits'>;
export type Job = Output<'findJob'>;
export type Why = Output<'whyJob'>;
export type WorkerRow = Item<'listWorkers'>;
export type Worker = Output<'findWorker'>;
export type OperationRow = Item<'listOperations'>;
export type HandledFailed = Output<'handleFailedOperations'>;
export type Operation = Output<'findOperation'>;
export type Installation = Item<'listInstallations'>;
export type Action = Item<'listActions'>;
export type Token = Item<'listTokens'>;
export type MadeToken = Output<'createToken'>;
export type EndedSessions = Output<'endSessions'>;
export type OperationCount = Item<'countOperations'>;
export type Sweep = Item<'listSweeps'>;
export type Switch = Item<'listSwitches'>;
export type Diagnoses = Output<'listDiagnoses'>;
export type Findings = Output<'listFindings'>;
export type RepositoryRow = Item<'listRepositories'>;
export type Repository = Output<'findRepository'>;
export type Diagnosis = Item<'listDiagnoses'>;
export type Found = Item<'find'>;
export type Delivery = Output<'findDelivery'>;
export type FailedDelivery = Item<'listRedeliveries'>;
export type OneInstallation = Output<'findInstallation'>;
export type Trace = Output<'trace'>;
export type TraceItem = Trace['items'][number];
export type EventPayload = Output<'traceEvent'>;
export type Usage = Output<'listUsage'>;
export type UsageRow = Usage['items'][number];
export type Compared = Output<'compareRunners'>;
export type ComparedRow = Compared['items'][number];
export type ActiveRow = Item<'countActive'>;

/** Why the API did not do what was asked (RFC 9457), or why no answer came: status 0. */
export interface Trouble {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly { readonly place: string; readonly message: string }[];
}
