import type { WaitReason } from '@paddock/domain/matching/wait-reasons';
import type { ColumnType } from 'kysely';

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
