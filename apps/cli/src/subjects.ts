import type { Named } from '@paddock/api/find/find';
import type { switchState } from '@paddock/api/switches/switches';
import type { z } from 'zod';
import type { Fields } from './asker.ts';
import { printable } from './columns.ts';
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
