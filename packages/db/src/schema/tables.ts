import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type {
  ActionsTable,
  DemandKeysTable,
  Json,
  JsonColumn,
  JsonColumnWithDefault,
  Nullable,
  OperationsTable,
  OutagesTable,
  RefusedColumns,
  RunnerGroupsTable,
  SessionsTable,
  SwitchesTable,
  TaskCountsTable,
  TasksTable,
  TokensTable,
  UsageHoursTable,
  WaitReasonChangesTable,
} from './other-tables.ts';

export type Status = 'pending' | 'running' | 'completed' | 'failed';
export type EntityType = 'Organization' | 'User';
type Provider = 'github' | 'gitlab' | 'azdo';

/** `{ version: 1, message }` for everything but pod diagnostics, which are version 2. */
export type FailureInfo = { version: 1; message: string } | ({ version: 2 } & Record<string, Json>);

export interface InstanceTable {
  only_row: Generated<boolean>;
  instance_id: string;
  created_at: Generated<Date>;
  events_retired_to: Generated<number>;
  app_ids: ColumnType<readonly number[] | null, string | null, string | null>;
}

export interface JobsTable {
  job_id: number;
  status: Generated<Status>;
  wants_worker: boolean;
  failure_info: ColumnType<FailureInfo | null, string | null | undefined, string | null>;
  provider: Generated<Provider>;
  entity_id: number;
  entity_name: string;
  entity_type: EntityType;
  repo_id: number;
  repo_full_name: string;
  app_id: number;
  installation_id: number;
  job_labels: JsonColumnWithDefault<string[]>;
  k8s_pool: string;
  k8s_image: string;
  k8s_pod: Nullable<string>;
  scope_repo_id: number;
  demand_key: GeneratedAlways<number>;
  pools_version: number;
  run_id: number;
  run_attempt: number;
  job_name: string;
  workflow_name: Nullable<string>;
  html_url: Nullable<string>;
  conclusion: Nullable<string>;
  runner_name: Nullable<string>;
  runner_id: Nullable<number>;
  queued_at: Nullable<Date>;
  started_at: Nullable<Date>;
  completed_at: Nullable<Date>;
  delivery_guid: Nullable<string>;
  lookup_due_at: Nullable<Date>;
  hidden_since: Nullable<Date>;
  looked_up_at: Nullable<Date>;
  unanswered_since: Nullable<Date>;
  seen_queued_at: Nullable<Date>;
  seen_gone_at: Nullable<Date>;
  recovered_at: Nullable<Date>;
  requeues: Generated<number>;
  recovery_attempts: Generated<number>;
  misjudged: Generated<boolean>;
  revision: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface WorkersTable {
  pod_name: string;
  status: Generated<Status>;
  failure_info: ColumnType<FailureInfo | null, string | null | undefined, string | null>;
  provider: Generated<Provider>;
  entity_id: number;
  entity_name: string;
  entity_type: EntityType;
  app_id: number;
  installation_id: number;
  repo_full_name: Nullable<string>;
  scope_repo_id: number;
  job_labels: JsonColumn<string[]>;
  made_for_job_id: Nullable<number>;
  delivery_guid: Nullable<string>;
  k8s_pool: string;
  k8s_image: string;
  k8s_node: Nullable<string>;
  demand_key: GeneratedAlways<number>;
  pools_version: number;
  cluster: Generated<string>;
  namespace: string;
  pod_uid: Nullable<string>;
  pod_created_at: Nullable<Date>;
  runner_id: Nullable<number>;
  registered_labels: ColumnType<string[] | null, string | null | undefined, string | null>;
  registration_started_at: Nullable<Date>;
  registered_at: Nullable<Date>;
  registration_gone_at: Nullable<Date>;
  assigned_at: Nullable<Date>;
  assigned_job_id: Nullable<number>;
  stopping_at: Nullable<Date>;
  stop_reason: Nullable<string>;
  is_warm: Generated<boolean>;
  stop_held_by: Nullable<string>;
  stop_held_since: Nullable<Date>;
  runs_read_from: Nullable<number>;
  deregistration_started_at: Nullable<Date>;
  runner_checked_at: Nullable<Date>;
  online_seen_at: Nullable<Date>;
  idle_since: Nullable<Date>;
  offline_since: Nullable<Date>;
  pod_gone_at: Nullable<Date>;
  exit_code: Nullable<number>;
  unexplained_until: Nullable<Date>;
  unschedulable_at: Nullable<Date>;
  stuck_reason: Nullable<string>;
  stuck_at: Nullable<Date>;
  terminating_at: Nullable<Date>;
  secret_deleted_at: Nullable<Date>;
  pod_deleted_at: Nullable<Date>;
  running_at: Nullable<Date>;
  runner_ended_at: Nullable<Date>;
  completed_at: Nullable<Date>;
  revision: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface InstallationEventsTable {
  id: GeneratedAlways<number>;
  source: 'webhook' | 'scheduler' | 'reconciler';
  event: string;
  outcome: string;
  app_id: Nullable<number>;
  installation_id: Nullable<number>;
  entity_type: Nullable<EntityType>;
  entity_id: Nullable<number>;
  entity_name: Nullable<string>;
  repo_id: Nullable<number>;
  job_id: Nullable<number>;
  delivery_guid: Nullable<string>;
  payload: JsonColumn<Json>;
  payload_repaired: Generated<boolean>;
  body_digest: Nullable<string>;
  received_at: Generated<Date>;
}

/** What GitHub has told an App, and how far its log of deliveries was read. */
export interface AppsTable extends RefusedColumns {
  app_id: number;
  wait_until: Nullable<Date>;
  wait_message: Nullable<string>;
  log_read_at: Nullable<Date>;
  log_read_to: Nullable<Date>;
  log_cursor: Nullable<string>;
  log_cursor_from: Nullable<Date>;
}

export interface InstallationsTable extends RefusedColumns {
  entity_id: number;
  app_id: number;
  installation_id: number;
  login: string;
  entity_type: EntityType;
  repository_selection: Nullable<string>;
  suspended_at: Nullable<Date>;
  deleted_at: Nullable<Date>;
  listed_at: Nullable<Date>;
  stated_at: Date;
  login_stated_at: Nullable<Date>;
  /** When the entity left each. */
  former_logins: JsonColumnWithDefault<Readonly<Record<string, string>>>;
  /** When GitHub last said something new of it. */
  updated_at: Generated<Date>;
  wait_until: Nullable<Date>;
  wait_message: Nullable<string>;
  core_wait_until: Nullable<Date>;
  registrations_left: Nullable<number>;
  registrations_reset_at: Nullable<Date>;
}

export interface LoginPinsTable {
  /** In lower case. */
  login: string;
  entity_id: number;
  pinned_at: Generated<Date>;
}

export interface PoolsDocumentsTable {
  version: GeneratedAlways<number>;
  digest: string;
  content: JsonColumn<Json>;
  loaded_at: Generated<Date>;
}

export interface LeasesTable {
  name: string;
  holder: string;
  fence: number;
  expires_at: Date;
}

export interface SchedulesTable {
  name: string;
  last_tick_at: Date;
  succeeded_at: Generated<Date>;
  last_pass: JsonColumnWithDefault<Json>;
  extra_at: Nullable<Date>;
  extra_until: Nullable<Date>;
  extra_since: Nullable<Date>;
}

export interface Database {
  instance: InstanceTable;
  jobs: JobsTable;
  workers: WorkersTable;
  installation_events: InstallationEventsTable;
  apps: AppsTable;
  installations: InstallationsTable;
  repositories: RepositoriesTable;
  demand_keys: DemandKeysTable;
  wait_reason_changes: WaitReasonChangesTable;
  login_pins: LoginPinsTable;
  runner_groups: RunnerGroupsTable;
  switches: SwitchesTable;
  outages: OutagesTable;
  pools_documents: PoolsDocumentsTable;
  leases: LeasesTable;
  schedules: SchedulesTable;
  pool_runner_versions: PoolRunnerVersionsTable;
  tasks: TasksTable;
  operations: OperationsTable;
  task_counts: TaskCountsTable;
  unresolved_deliveries: UnresolvedDeliveriesTable;
  tokens: TokensTable;
  sessions: SessionsTable;
  actions: ActionsTable;
  usage_hours: UsageHoursTable;
}

interface RepositoriesTable extends RefusedColumns {
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

interface UnresolvedDeliveriesTable {
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

interface PoolRunnerVersionsTable {
  k8s_pool: string;
  version: string;
  pod_name: string;
  ends_at: Nullable<Date>;
  asked_at: Nullable<Date>;
}
