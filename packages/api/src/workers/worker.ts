import type { WorkerSummary } from '@paddock/db/people/list-workers';
import { z } from 'zod';

const instant = z.iso.datetime().nullable();
const reason = z.object({ reason: z.string(), since: instant }).nullable();

/** A worker as lists have it. */
export const workerRow = z.object({
  name: z.string().describe('Of its row, its registration, its Secret and its pod'),
  state: z.enum(['pending', 'running', 'stopping', 'ended', 'failed']),
  entity: z.object({ id: z.int(), login: z.string() }),
  repository: z.string().nullable().describe('Where it is registered, if it serves one only'),
  pool: z.string(),
  node: z.string().nullable(),
  warm: z.boolean().describe('It was made before a job wanted it'),
  job: z.int().nullable().describe('The job that it runs or ran'),
  stuck: reason.describe('Why its pod does not start'),
  stop: reason.describe('Why it is to end'),
  failure: z.string().nullable().describe('Why it failed or does not start, shortly'),
  createdAt: z.iso.datetime().describe('When it was reserved; lists are in its order'),
  runningAt: instant.describe('When its pod ran'),
  assignedAt: instant.describe('When it was known to run its job'),
  completedAt: instant,
});

export function toWorkerRow(row: WorkerSummary): z.input<typeof workerRow> {
  const { status, stuckReason, stuckAt, stopReason, stoppingAt } = row;
  return {
    name: row.podName,
    state:
      status === 'failed'
        ? 'failed'
        : status === 'completed'
          ? 'ended'
          : stoppingAt === null
            ? status
            : 'stopping',
    entity: { id: row.entityId, login: row.entityName },
    repository: row.repoFullName,
    pool: row.pool,
    node: row.node,
    warm: row.isWarm,
    job: row.assignedJobId,
    stuck: stuckReason === null ? null : { reason: stuckReason, since: text(stuckAt) },
    stop: stopReason === null ? null : { reason: stopReason, since: text(stoppingAt) },
    failure: row.failure,
    createdAt: row.createdAt.toISOString(),
    runningAt: text(row.runningAt),
    assignedAt: text(row.assignedAt),
    completedAt: text(row.completedAt),
  };
}

const text = (at: Date | null): string | null => at?.toISOString() ?? null;
