import type { Token } from '@paddock/db/people/tokens';
import { z } from 'zod';

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
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().describe('To the hour'),
  revokedBy: z.string().nullable(),
  revokedAt: z.iso.datetime().nullable(),
});

export const toTokenJson = ({ isOneTime, ...row }: Token): z.input<typeof token> => ({
  ...row,
  oneTime: isOneTime,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  revokedAt: row.revokedAt?.toISOString() ?? null,
});
