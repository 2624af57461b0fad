import type { Operation } from '@paddock/queue/read-operations';
import { z } from 'zod';

/** A task as people see it, from the moment it is queued until it expires. */
export const operation = z.object({
  id: z.uuid(),
  kind: z.string(),
  origin: z.enum(['MANUAL', 'AUTOMATIC']),
  status: z.enum(['QUEUED', 'RUNNING', 'OK', 'ERROR']),
  subject: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  requestedBy: z.string().nullable(),
  attempt: z.int().describe('How many runs have begun; a snoozed or aborted one does not count'),
  maxAttempts: z.int(),
  queuedAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  finishedAt: z.iso.datetime().nullable(),
  nextRunAt: z.iso.datetime().nullable().describe('When a queued one runs next'),
  output: z.unknown().describe('What it did; null until it has ended'),
  failure: z
    .object({ reason: z.string(), message: z.string() })
    .nullable()
    .describe('Why it failed, or how the last run of an unfinished one failed'),
});

/** As lists have it. */
export const operationRow = operation.omit({ output: true });

export const toOperationRow = ({
  id,
  kind,
  origin,
  status,
  subject,
  requestedBy,
  attempt,
  maxAttempts,
  failure,
  ...at
}: Operation): z.input<typeof operationRow> => ({
  id,
  kind,
  origin,
  status,
  subject,
  requestedBy,
  attempt,
  maxAttempts,
  queuedAt: at.queuedAt.toISOString(),
  startedAt: at.startedAt?.toISOString() ?? null,
  finishedAt: at.finishedAt?.toISOString() ?? null,
  nextRunAt: at.nextRunAt?.toISOString() ?? null,
  failure,
});
