import type { token } from '@paddock/api/tokens/token';
import type { z } from 'zod';
import { table } from './ask-command.ts';
import { pairs } from './columns.ts';

export const tokenTable = table<z.input<typeof token>>(
  ['NAME', 'ACCESS', 'ONLY', 'CREATED', 'BY', 'LAST USED', 'REVOKED', 'BY'],
  ({ name, access, narrowedTo, ...row }) => [
    name,
    access,
    narrowedTo && `${narrowedTo.endpoint} ${pairs(narrowedTo.subject)}`,
    row.createdAt,
    row.createdBy,
    row.lastUsedAt,
    row.revokedAt,
    row.revokedBy,
  ],
  'There is no token.',
);
