import type { Generated } from 'kysely';
import type { Nullable } from './columns.ts';

export interface StrayRegistrationsTable {
  entity_id: number;
  scope_repo_id: number;
  runner_id: number;
  name: string;
  sightings: Generated<number>;
  first_seen_at: Generated<Date>;
}

export interface RetentionProgressTable {
  name: string;
  reached_id: number;
}

export interface PoolRunnerVersionsTable {
  k8s_pool: string;
  version: string;
  pod_name: string;
  ends_at: Nullable<Date>;
  asked_at: Nullable<Date>;
}
