import type { ColumnType, Generated } from 'kysely';
import type { Nullable } from './columns.ts';

/** Values of an endpoint's path, by their names. */
export type TokenSubject = Readonly<Record<string, string | number>>;

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
}
