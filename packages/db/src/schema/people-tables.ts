import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Nullable } from './columns.ts';

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
