import { z } from 'zod';
import { actionRow, type ActionRow } from '../actions/list-actions.ts';
import { jobRow, type JobRow } from '../jobs/job.ts';
import { operationRow, type OperationRow } from '../operations/operation.ts';
import { workerRow, type WorkerRow } from '../workers/worker.ts';
import { eventRow, type EventRow, meaningOf } from '../events/event.ts';

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

type Item = z.output<typeof traceItem>;

export const eventItem = (event: EventRow): Item => ({
  kind: 'event',
  at: event.receivedAt.toISOString(),
  what: `${event.event}: ${meaningOf(event)}`,
  event,
});

export const jobItem = (
  job: JobRow,
  what = 'stored by Paddock',
  at = job.createdAt.toISOString(),
): Item => ({ kind: 'job', at, what, job });

export const workerItem = (
  worker: WorkerRow,
  what = 'reserved',
  at = worker.createdAt.toISOString(),
): Item => ({ kind: 'worker', at, what, worker });

export const operationItem = (operation: OperationRow): Item => ({
  kind: 'operation',
  at: operation.queuedAt.toISOString(),
  what: `${operation.kind} was queued${operation.requestedBy === null ? '' : ` by ${operation.requestedBy}`}, and is ${operation.status}`,
  operation,
});

export const actionItem = (action: ActionRow): Item => ({
  kind: 'action',
  at: action.at.toISOString(),
  what: `${action.person} asked for ${action.endpoint}`,
  action,
});
