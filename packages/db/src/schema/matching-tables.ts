import type { ColumnType, Generated } from 'kysely';
import type { Nullable } from './columns.ts';

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
