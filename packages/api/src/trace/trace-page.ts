import { z } from 'zod';
import { dates } from '../lists/dates.ts';
import { after, limit, pageOf } from '../lists/page.ts';
import { actionRow, type ActionRow } from '../actions/list-actions.ts';
import { jobRow, type JobRow } from '../jobs/job.ts';
import { operationRow, type OperationRow } from '../operations/operation.ts';
import { workerRow, type WorkerRow } from '../workers/workers.ts';
import { eventRow, type EventRow, meaningOf } from '../events/events.ts';

/** Of one instant, the effect stands above its cause: in the order of these. */
export const KINDS = ['worker', 'operation', 'job', 'event', 'action'] as const;

export type Kind = (typeof KINDS)[number];

const common = { at: z.iso.datetime(), what: z.string().describe('What happened, in words') };

/** One thing that happened. */
const traceItem = z.discriminatedUnion('kind', [
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

/** A place in a trace: the instant with its microseconds, the kind, and the id. */
export type TracePosition = readonly [at: string, kind: number, id: string];

/** A thing that happened, at its place. */
export interface Traceable {
  readonly item: z.output<typeof traceItem>;
  readonly position: TracePosition;
}

/** The inputs of each trace. */
export const traceInput = {
  kind: z.enum(KINDS).optional().describe('Only what is of this kind'),
  ...dates,
  limit,
  after: after(
    z.tuple([
      z.iso.datetime(),
      z
        .int()
        .min(0)
        .max(KINDS.length - 1),
      z.string().max(100),
    ]),
  ),
};

export type TraceInput = z.output<z.ZodObject<typeof traceInput>>;

export const traceAnswer = pageOf(traceItem).extend({
  entity: z
    .object({
      id: z.int(),
      login: z.string().nullable().describe('Null: no App of Paddock was seen on it'),
      formerly: z.array(z.string()).describe('Its logins before, the latest first'),
    })
    .nullable()
    .describe('Null: the rows name none'),
});

/** Newest first. */
export const byPosition = ({ position: a }: Traceable, { position: b }: Traceable): number =>
  compare(b[0], a[0]) || a[1] - b[1] || compareIds(b[2], a[2]);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Numbers as numbers: one with more digits is greater. */
const compareIds = (a: string, b: string): number =>
  NUMBER.test(a) && NUMBER.test(b) ? a.length - b.length || compare(a, b) : compare(a, b);

const NUMBER = /^\d+$/;
