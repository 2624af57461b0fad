import type { Named } from '@paddock/api/find/find';
import type { switchState } from '@paddock/api/switches/switches';
import type { token } from '@paddock/api/tokens/tokens';
import type { z } from 'zod';
import { table } from './ask-command.ts';
import type { Fields } from './asker.ts';
import { printable, pairs } from './columns.ts';
import { type Given, WrongUsage } from './command.ts';

/** The two names of OWNER/NAME. */
export function readRepository({ words: [word = ''] }: Given): Fields {
  const [owner = '', name = '', ...more] = word.split('/');
  if (owner === '' || name === '' || more.length > 0)
    throw new WrongUsage('A repository is OWNER/NAME.');
  return { owner, repository: name };
}

/** Which command shows it. */
export function commandFor({ kind, id, name }: Named): string {
  switch (kind) {
    case 'job':
      return `why ${id}`;
    case 'run':
      return 'why ADDRESS';
    case 'repository':
    case 'entity':
      return `diagnose ${name ?? id}`;
    case 'pool':
      return 'pools';
    case 'event':
      return `trace payload ${id}`;
    case 'worker':
    case 'operation':
    case 'delivery':
    case 'installation':
      return `${kind} ${id}`;
    default:
      return kind satisfies never;
  }
}

/** One sentence: how a switch stands now. */
export function describeSwitch({ subject, held }: z.input<typeof switchState>): string {
  if (held === null) return `${subject} goes on.\n`;
  const why = held.note === null ? '' : `: ${printable(held.note)}`;
  return `${subject} is paused by ${printable(held.by)} since ${held.since}${why}\n`;
}

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
