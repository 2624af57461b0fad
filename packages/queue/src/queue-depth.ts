import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import type { DeclaredGauges, Metrics } from '@paddock/runtime/metrics';

/**
 * The unfinished tasks of one kind. If due tasks of a kind grow while none runs, it has no live
 * executor.
 */
export interface QueueDepth {
  kind: string;
  /** Queued, for now or for later. */
  queued: number;
  /** Queued and due. */
  due: number;
  /** For how many seconds the oldest due task has been due; 0 if none is. */
  oldestDueSeconds: number;
}

/** Counts unfinished tasks by kind, by the database's clock. */
export const readQueueDepth = (db: Db) => rowsOf<QueueDepth>(db)`
    select kind,
           count(*) filter (where status = 'queued') as queued,
           count(*) filter (where status = 'queued' and due_at <= now()) as due,
           coalesce(greatest(0, extract(epoch from now() - min(due_at) filter (where status = 'queued'))), 0)::double precision as "oldestDueSeconds"
    from tasks group by kind order by kind`;

const GAUGES = {
  paddock_task_due: { help: 'Due tasks that no executor has claimed', labels: ['kind'] },
  paddock_task_queued: { help: 'Queued tasks, due or not', labels: ['kind'] },
  paddock_task_oldest_due_seconds: {
    help: 'How long the oldest due task has waited for a claim',
    labels: ['kind'],
  },
} satisfies DeclaredGauges;

/** Declares the gauges of the queue's depth, read from the rows at each scrape. */
export function declareQueueDepth(metrics: Metrics, db: Db): void {
  metrics.readings(GAUGES, async () =>
    (await readQueueDepth(db)).flatMap(({ kind, due, queued, oldestDueSeconds }) => [
      { gauge: 'paddock_task_due', labels: { kind }, value: due },
      { gauge: 'paddock_task_queued', labels: { kind }, value: queued },
      { gauge: 'paddock_task_oldest_due_seconds', labels: { kind }, value: oldestDueSeconds },
    ]),
  );
}
