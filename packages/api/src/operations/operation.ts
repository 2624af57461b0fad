import type { Operation } from '@paddock/queue/read-operations';
import { z } from 'zod';

/** A task as people see it, from the moment it is queued until it expires. */
export const operation = z.object({
  id: z.uuid(),
  kind: z.string(),
  origin: z.enum(['MANUAL', 'AUTOMATIC']),
  status: z.enum(['QUEUED', 'RUNNING', 'OK', 'ERROR']),
  subject: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  requestedBy: z.string().nullable().describe('Who asked for it first; null: nobody did'),
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
  handled: z
    .object({
      by: z.string(),
      at: z.iso.datetime(),
      retriedAs: z.uuid().nullable().describe('The operation that repeats it; null: discarded'),
    })
    .nullable()
    .describe('What somebody made of a failed one'),
  failures: z
    .array(
      z.object({
        attempt: z.int(),
        at: z.iso.datetime({ offset: true }),
        reason: z.string(),
        message: z.string(),
      }),
    )
    .describe('Its runs that failed, were put off or broke off, the last ones'),
  askers: z
    .array(z.object({ person: z.string(), at: z.iso.datetime(), note: z.string().nullable() }))
    .describe('Everybody who asked for it, in order: it serves all of them'),
});

/** As lists have it. */
export const operationRow = operation.omit({ output: true, failures: true, askers: true });

/** As a list of one subject's has it. */
export const listedOperation = operationRow.extend(
  operation.pick({ output: true, failures: true }).partial().shape,
);

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
  handled,
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
  handled: handled && { ...handled, at: new Date(handled.at).toISOString() },
});
