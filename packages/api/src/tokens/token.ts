import { sql } from 'kysely';
import { z } from 'zod';
import { instant } from '../lists/dates.ts';

/** As in audits and lists; a revoked token keeps its name. */
export const tokenName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    'must have 1 to 63 small letters, digits, dots, dashes or underscores, and begin with a letter or a digit',
  );

export const access = z.enum(['read', 'operate']);

/** A token as people see it. Its secret is shown once, by `createToken`. */
export const token = z.object({
  name: z.string(),
  access,
  narrowedTo: z
    .object({ endpoint: z.string(), subject: z.record(z.string(), z.union([z.string(), z.int()])) })
    .nullable()
    .describe('The one endpoint and subject that it may call; null: all that its access allows'),
  oneTime: z.boolean().describe('It signs in to the page once, and does nothing else'),
  createdBy: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable().describe('To the hour'),
  revokedBy: z.string().nullable(),
  revokedAt: instant.nullable(),
});

export type Token = z.output<typeof token>;

/** SQL: the one endpoint and subject of a row of `tokens`; null: it is not narrowed. */
export const NARROWED_TO = sql<
  Token['narrowedTo']
>`case when tokens.endpoint is not null then json_build_object('endpoint', tokens.endpoint, 'subject', tokens.subject) end`.as(
  'narrowedTo',
);

/** What a token may do. */
export type TokenRights = Pick<Token, 'access' | 'narrowedTo'>;

/** What people see of a row: its secret is nowhere. */
export const TOKEN_COLUMNS = [
  'name',
  'access',
  NARROWED_TO,
  'one_time as oneTime',
  'created_by as createdBy',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'revoked_by as revokedBy',
  'revoked_at as revokedAt',
] as const;
