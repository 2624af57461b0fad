import type { Database } from '@paddock/db/schema/tables';
import type { Metrics } from '@paddock/runtime/metrics';
import { type Kysely, sql } from 'kysely';

/** The unfinished tasks of one kind. A kind whose due tasks grow while none runs has no live executor (D11). */
export interface QueueDepth {
  kind: string;
  /** Queued, for now or for later. */
  queued: number;
  /** Queued and due. */
  due: number;
  running: number;
  /** How long the oldest of the due ones has been due, in seconds; 0 if none is. */
  oldestDueSeconds: number;
}

/** Counts unfinished tasks by kind, by the database's clock. */
export async function readQueueDepth(db: Kysely<Database>): Promise<QueueDepth[]> {
  const { rows } = await sql<QueueDepth>`
    select kind,
           count(*) filter (where status = 'queued') as queued,
           count(*) filter (where status = 'queued' and due_at <= now()) as due,
           count(*) filter (where status = 'running') as running,
           coalesce(greatest(0, extract(epoch from now() - min(due_at) filter (where status = 'queued'))), 0)::double precision as "oldestDueSeconds"
    from tasks group by kind order by kind`.execute(db);
  return rows;
}

/** Declares the gauges of the queue's depth and gives the function that sets them (D8). */
export function queueDepthGauges(metrics: Metrics): (depths: readonly QueueDepth[]) => void {
  const due = metrics.gauge('paddock_task_due', 'Tasks that are due and not taken', ['kind']);
  const queued = metrics.gauge('paddock_task_queued', 'Tasks that wait, due or not', ['kind']);
  const oldest = metrics.gauge('paddock_task_oldest_due_seconds', 'How long the oldest due task has waited to be taken', ['kind']);
  return (depths) => {
    // A kind without tasks has no row, and must not keep its last value.
    for (const gauge of [due, queued, oldest]) gauge.reset();
    for (const depth of depths) {
      due.set({ kind: depth.kind }, depth.due);
      queued.set({ kind: depth.kind }, depth.queued);
      oldest.set({ kind: depth.kind }, depth.oldestDueSeconds);
    }
  };
}
