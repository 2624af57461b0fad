import type { WaitReason } from '@paddock/domain/matching/wait-reasons';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

// The types of columns, and the tables of matching, of tasks and of what people ask for.

export type Json = unknown;
/**
 * JSONB is written as text, so that received JSON is stored without JavaScript values in between.
 */
export type JsonColumn<T> = ColumnType<T, string, string>;
export type JsonColumnWithDefault<T> = ColumnType<T, string | undefined, string>;
export type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;

/** What GitHub refuses an App, an installation or a repository; all are null, or none. */
export interface RefusedColumns {
  refused_since: Nullable<Date>;
  refused_until: Nullable<Date>;
  refused_reason: Nullable<WaitReason>;
  refused_message: Nullable<string>;
}

export interface DemandKeysTable {
  demand_key: number;
  entity_id: number;
  entity_name: string;
  scope_repo_id: number;
  k8s_pool: string;
  waiting: number;
  unassigned: number;
  cap: Nullable<number>;
  wait_reason: Nullable<string>;
  wait_since: Nullable<Date>;
  updated_at: Generated<Date>;
  /** Of its workers since the last success, and how often they paused it. */
  failures: Generated<number>;
  pauses: Generated<number>;
  failure_class: Nullable<string>;
  failure_message: Nullable<string>;
  /** When the work began that failed first. */
  failing_since: Nullable<Date>;
  failed_at: Nullable<Date>;
  paused_until: Nullable<Date>;
}

export interface WaitReasonChangesTable {
  demand_key: number;
  reason: string;
  since: Date;
  until: Date;
}

export interface RunnerGroupsTable {
  demand_key: number;
  entity_id: number;
  k8s_pool: string;
  name: string;
  visibility: Nullable<'all' | 'private' | 'selected'>;
  allows_public_repositories: Nullable<boolean>;
  workflows: ColumnType<readonly string[] | null, string | null | undefined, string | null>;
  repositories: ColumnType<readonly string[] | null, string | null | undefined, string | null>;
  excess: Nullable<string>;
  paused_until: Nullable<Date>;
  read_at: Generated<Date>;
}

export interface SwitchesTable {
  subject_type: 'environment' | 'pool' | 'entity' | 'sweep';
  subject_id: string;
  switched_by: string;
  since: Generated<Date>;
  note: Nullable<string>;
}

export interface OutagesTable {
  /** `github`, or a cluster as `workers.cluster` names it. */
  service: string;
  since: Generated<Date>;
  message: string;
}

/** One failed run: when, which attempt, and its error. */
export interface TaskFailure {
  attempt: number;
  at: string;
  reason: 'error' | 'timeout' | 'crash' | 'poison' | 'snooze';
  message: string;
}

export interface TasksTable {
  id: Generated<string>;
  kind: string;
  subject_type: string;
  subject_id: string;
  subject_name: Nullable<string>;
  payload: JsonColumnWithDefault<Json>;
  origin: Generated<'MANUAL' | 'AUTOMATIC'>;
  requested_by: Nullable<string>;
  delivery_guid: Nullable<string>;
  status: Generated<'queued' | 'running'>;
  attempt: Generated<number>;
  max_attempts: number;
  crashes: Generated<number>;
  max_crashes: number;
  failures: JsonColumnWithDefault<TaskFailure[]>;
  queued_at: Generated<Date>;
  due_at: Generated<Date>;
  started_at: Nullable<Date>;
  locked_by: Nullable<string>;
  locked_until: Nullable<Date>;
  fence: Generated<number>;
}

export interface OperationsTable {
  id: string;
  kind: string;
  subject_type: string;
  subject_id: string;
  subject_name: Nullable<string>;
  payload: JsonColumn<Json>;
  origin: 'MANUAL' | 'AUTOMATIC';
  requested_by: Nullable<string>;
  delivery_guid: Nullable<string>;
  status: 'OK' | 'ERROR';
  attempt: number;
  max_attempts: number;
  crashes: number;
  failures: JsonColumn<TaskFailure[]>;
  queued_at: Date;
  started_at: Nullable<Date>;
  finished_at: Generated<Date>;
  expires_at: Date;
  output: ColumnType<Json, string | null | undefined, string | null>;
  failure_reason: Nullable<'poison' | 'attempts' | 'crashes' | 'timeout' | 'cancelled'>;
  failure_message: Nullable<string>;
  /** Who had the failed operation repeated, as `retried_as`, or discarded it. */
  handled_by: Nullable<string>;
  handled_at: Nullable<Date>;
  retried_as: Nullable<string>;
  entity_id: Nullable<number>;
}

export interface TaskCountsTable {
  hour: Date;
  kind: string;
  outcome: 'OK' | 'ERROR';
  failure_reason: Nullable<string>;
  ended: number;
}

/** Values of an endpoint's path, by their names. */
export type TokenSubject = Readonly<Record<string, string | number>>;

/** What an action was done to, as `{"token": "ci"}`. */
export type ActionSubject = Readonly<Record<string, string | number>>;

export interface ActionsTable {
  id: GeneratedAlways<number>;
  person: string;
  acted_at: Generated<Date>;
  came_from: 'terminal' | 'api';
  /** The name of an endpoint. */
  endpoint: string;
  subject: ColumnType<ActionSubject, string, never>;
  note: Nullable<string>;
  /** The operation that the action asked for. */
  operation: Nullable<string>;
  entity_id: Nullable<number>;
}

export interface UsageHoursTable {
  hour: Date;
  entity_id: number;
  /** 0: no job. */
  repo_id: number;
  repo_full_name: Nullable<string>;
  /** Empty: no job, or no name. */
  workflow_name: string;
  k8s_pool: string;
  /** Of each job that started, sorted. */
  queued: Nullable<number[]>;
  jobs: number;
  workers: number;
  pod_ms: number;
  idle_ms: number;
  thrown_away_ms: number;
  /** Jobs and workers that had not ended. */
  unended: Generated<number>;
  summed_at: Generated<Date>;
}

export interface TokensTable {
  id: string;
  name: string;
  secret_sha256: string;
  access: 'read' | 'operate';
  endpoint: Nullable<string>;
  subject: ColumnType<TokenSubject | null, string | null | undefined, string | null>;
  created_by: string;
  created_at: Generated<Date>;
  last_used_at: Nullable<Date>;
  revoked_by: Nullable<string>;
  revoked_at: Nullable<Date>;
  one_time: Generated<boolean>;
}

export interface SessionsTable {
  id: string;
  /** Null: the session is a person's, for whom an identity provider vouched. */
  token_id: Nullable<string>;
  person: Nullable<string>;
  groups: ColumnType<string[] | null, string | null | undefined, never>;
  secret_sha256: string;
  created_at: Generated<Date>;
  expires_at: Date;
}
