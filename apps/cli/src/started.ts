import type { operation } from '@paddock/api/operations/operation';
import type { z } from 'zod';
import { printable } from './columns.ts';

/** One line about an operation that was asked for: what it is, and whose. */
export function started(row: z.input<typeof operation>): string {
  const { id, kind, subject, status, requestedBy, askers } = row;
  const others = new Set([requestedBy, ...askers.map(({ person }) => person)]).size - 1;
  const whose =
    others === 0
      ? ''
      : ` ${printable(requestedBy ?? 'Somebody')} asked for it before; it serves you too.`;
  return `${status.toLowerCase()}: ${kind} of ${printable(subject.name ?? subject.id)}.${whose} See \`paddock operation ${id}\`.\n`;
}
