import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import type { ColumnType, Generated } from 'kysely';
import type { JsonColumn, Nullable } from './columns.ts';

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
}

export interface WaitReasonChangesTable {
  demand_key: number;
  reason: string;
  since: Date;
  until: Date;
}

export interface WarmRepositoriesTable {
  full_name: string;
  entity_id: number;
  repo_id: number;
  found_at: Generated<Date>;
}

/** Services of the version before use it. The next version drops it. */
export interface UnservedKeysTable {
  demand_key: number;
  entity_id: number;
  scope_repo_id: number;
  k8s_pool: string;
  rounds: Generated<number>;
  worker_created_at: Date;
  noted_at: Generated<Date>;
  paused_until: Nullable<Date>;
  access: Nullable<string>;
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

export interface StoppedMakingTable {
  subject_type: 'environment' | 'pool' | 'entity';
  subject_id: string;
  stopped_by: string;
  stopped_at: Generated<Date>;
  note: Nullable<string>;
}

export interface MatchingSettingsTable {
  only_row: Generated<boolean>;
  settings: JsonColumn<MatchingSettings>;
  stored_at: Generated<Date>;
}

export interface RegistrationBudgetsTable {
  installation_id: number;
  remaining: number;
  reset_at: Date;
  /** No service uses it. The next version drops it. */
  paused_until: Nullable<Date>;
  noted_at: Generated<Date>;
}

export interface BreakersTable {
  subject_type: 'pool' | 'app' | 'installation' | 'repository' | 'github' | 'cluster';
  subject_id: string;
  failure_class: string;
  failures: number;
  pauses: Generated<number>;
  paused_until: Nullable<Date>;
  trial_until: Nullable<Date>;
  message: string;
  failed_at: Generated<Date>;
  opened_at: Nullable<Date>;
  /** When a probe was first answered after silence; null while nothing answers. */
  answered_at: Nullable<Date>;
  /**
   * The entities and the workers of the counted failures, one entry for each. Null: the failures
   * are the subject's own.
   */
  entities: Nullable<number[]>;
  workers: Nullable<string[]>;
}
