import type { ColumnType, Generated } from 'kysely';
import type { Json, JsonColumn, JsonColumnWithDefault, Nullable } from './columns.ts';

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
