import type { Generated } from 'kysely';
import type { JsonColumnWithDefault, Nullable, RefusedColumns } from './columns.ts';

export interface RepositoriesTable extends RefusedColumns {
  repo_id: number;
  entity_id: number;
  app_id: number;
  full_name: Nullable<string>;
  active_at: Date;
  named_at: Nullable<Date>;
  noted_at: Nullable<Date>;
  due_at: Generated<Date>;
  looked_at: Nullable<Date>;
  full_at: Nullable<Date>;
  etags: JsonColumnWithDefault<object>;
  resynced_at: Nullable<Date>;
  unanswered_since: Nullable<Date>;
}

export interface UnresolvedDeliveriesTable {
  app_id: number;
  guid: string;
  delivery_id: number;
  event: string;
  action: Nullable<string>;
  installation_id: Nullable<number>;
  repository_id: Nullable<number>;
  first_failed_at: Date;
  last_failed_at: Date;
  last_status_code: number;
  requests: Generated<number>;
  last_requested_at: Nullable<Date>;
  requested_delivery_id: Nullable<number>;
  next_request_at: Generated<Date>;
  resolved_at: Nullable<Date>;
  missing_here: Generated<boolean>;
}

export interface PoolRunnerVersionsTable {
  k8s_pool: string;
  version: string;
  pod_name: string;
  ends_at: Nullable<Date>;
  asked_at: Nullable<Date>;
}
