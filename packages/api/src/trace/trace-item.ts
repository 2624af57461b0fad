import type { RecordedAction } from '@paddock/db/people/actions';
import type { JobSummary } from '@paddock/db/people/list-jobs';
import type { EventSummary } from '@paddock/db/people/list-trace-events';
import type { WorkerSummary } from '@paddock/db/people/list-workers';
import type { Operation } from '@paddock/queue/read-operations';
import { z } from 'zod';
import { actionRow, toActionRow } from '../actions/list-actions.ts';
import { jobRow, toJobRow } from '../jobs/job.ts';
import { operationRow, toOperationRow } from '../operations/operation.ts';
import { toWorkerRow, workerRow } from '../workers/worker.ts';
import { eventRow, meaningOf, toEventRow } from './event.ts';

/** Of one instant, the effect stands above its cause: in the order of these. */
export const KINDS = ['worker', 'operation', 'job', 'event', 'action'] as const;

export type Kind = (typeof KINDS)[number];

const common = { at: z.iso.datetime(), what: z.string().describe('What happened, in words') };

/** One thing that happened. */
export const traceItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), ...common, event: eventRow }),
  z.object({ kind: z.literal('job'), ...common, job: jobRow }),
  z.object({ kind: z.literal('worker'), ...common, worker: workerRow }),
  z.object({ kind: z.literal('operation'), ...common, operation: operationRow }),
  z.object({ kind: z.literal('action'), ...common, action: actionRow }),
]);

type Item = z.input<typeof traceItem>;

export const eventItem = (row: EventSummary): Item => ({
  kind: 'event',
  at: row.receivedAt.toISOString(),
  what: `${row.event}: ${meaningOf(row)}`,
  event: toEventRow(row),
});

export const jobItem = (
  row: JobSummary,
  what = 'stored by Paddock',
  at = row.createdAt.toISOString(),
): Item => ({ kind: 'job', at, what, job: toJobRow(row) });

export const workerItem = (
  row: WorkerSummary,
  what = 'reserved',
  at = row.createdAt.toISOString(),
): Item => ({ kind: 'worker', at, what, worker: toWorkerRow(row) });

export const operationItem = (row: Operation): Item => ({
  kind: 'operation',
  at: row.queuedAt.toISOString(),
  what: `${row.kind} was queued${row.requestedBy === null ? '' : ` by ${row.requestedBy}`}, and is ${row.status}`,
  operation: toOperationRow(row),
});

export const actionItem = (row: RecordedAction): Item => ({
  kind: 'action',
  at: row.at.toISOString(),
  what: `${row.person} asked for ${row.endpoint}`,
  action: toActionRow(row),
});
