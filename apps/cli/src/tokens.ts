import type { token } from '@paddock/api/tokens/tokens';
import type { z } from 'zod';
import { table } from './ask-command.ts';
import type { Fields } from './asker.ts';
import { pairs } from './columns.ts';
import { type Given, WrongUsage } from './command.ts';

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

/** What a new token may do; its subject from `owner=acme,repository=app`. */
export const readAccess = ({ options: { access = 'read', subject } }: Given): Fields => ({
  access,
  ...(typeof subject === 'string' && {
    subject: Object.fromEntries(
      subject.split(',').map((pair) => {
        const [, field, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
        if (field === undefined || value === undefined)
          throw new WrongUsage('--subject takes FIELD=VALUE, with a comma between each two.');
        return [field, value];
      }),
    ),
  }),
});
