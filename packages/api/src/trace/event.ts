import type { EventSummary } from '@paddock/db/people/list-trace-events';
import { OUTCOMES } from '@paddock/domain/deliveries/outcomes';
import { z } from 'zod';

/** A stored statement as the trace has it. */
export const eventRow = z.object({
  id: z.string().describe('For `traceEvent`, which has its payload'),
  source: z.enum(['webhook', 'scheduler', 'reconciler']),
  event: z.string(),
  outcome: z.string(),
  guid: z.string().nullable().describe('GitHub’s id of the delivery; repetitions have the same'),
  app: z.int().nullable(),
  installation: z.int().nullable(),
  repository: z.object({ id: z.int(), fullName: z.string().nullable() }).nullable(),
  job: z.int().nullable(),
  receivedAt: z.iso.datetime(),
});

export const toEventRow = (row: EventSummary): z.input<typeof eventRow> => ({
  id: row.id,
  source: row.source,
  event: row.event,
  outcome: row.outcome,
  guid: row.guid,
  app: row.appId,
  installation: row.installationId,
  repository: row.repoId === null ? null : { id: row.repoId, fullName: row.repoFullName },
  job: row.jobId,
  receivedAt: row.receivedAt.toISOString(),
});

const MEANINGS: Readonly<Record<string, string>> = OUTCOMES;

/** What the outcome means, in words; one of another version stands for itself. */
export const meaningOf = ({ outcome }: Pick<EventSummary, 'outcome'>): string =>
  MEANINGS[outcome] ?? outcome;
