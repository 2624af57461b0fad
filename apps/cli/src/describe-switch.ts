import type { switchState } from '@paddock/api/switches/switch';
import type { z } from 'zod';
import { printable } from './columns.ts';

/** One sentence: how a switch stands now. */
export function describeSwitch({ subject, held }: z.input<typeof switchState>): string {
  if (held === null) return `${subject} goes on.\n`;
  const why = held.note === null ? '' : `: ${printable(held.note)}`;
  return `${subject} is paused by ${printable(held.by)} since ${held.since}${why}\n`;
}
