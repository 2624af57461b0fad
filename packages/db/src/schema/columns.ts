import type { ColumnType } from 'kysely';

export type Json = unknown;
/**
 * JSONB is written as text, so that what came over the wire can be stored without a detour through
 * JavaScript values.
 */
export type JsonColumn<T> = ColumnType<T, string, string>;
export type JsonColumnWithDefault<T> = ColumnType<T, string | undefined, string>;
export type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;
