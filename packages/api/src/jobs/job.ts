import type { JobSummary } from '@paddock/db/people/list-jobs';
import { z } from 'zod';

const instant = z.iso.datetime().nullable();

/** A job as lists have it. */
export const jobRow = z.object({
  id: z.int(),
  state: z.enum(['waiting', 'running', 'ended']),
  name: z.string(),
  workflow: z.string().nullable(),
  run: z.object({ id: z.int(), attempt: z.int() }),
  entity: z.object({ id: z.int(), login: z.string() }),
  repository: z.object({ id: z.int(), fullName: z.string() }),
  pool: z.string(),
  labels: z.array(z.string()),
  worker: z.string().nullable().describe('The worker that runs it or ran it'),
  conclusion: z.string().nullable().describe('GitHub’s; null until it has ended'),
  failure: z.string().nullable().describe('Why Paddock ended it, where GitHub has not'),
  wait: z
    .object({ reason: z.string(), since: z.iso.datetime() })
    .nullable()
    .describe(
      'Why the jobs of its entity and pool get no more workers, and since when; null: nothing holds them, or it does not wait for a worker',
    ),
  url: z.string().nullable(),
  createdAt: z.iso.datetime().describe('When Paddock first heard of it; lists are in its order'),
  queuedAt: instant,
  startedAt: instant,
  completedAt: instant,
});

const STATE_OF = {
  pending: 'waiting',
  running: 'running',
  completed: 'ended',
  failed: 'ended',
} as const;

export const toJobRow = (row: JobSummary): z.input<typeof jobRow> => ({
  id: row.jobId,
  state: STATE_OF[row.status],
  name: row.jobName,
  workflow: row.workflowName,
  run: { id: row.runId, attempt: row.runAttempt },
  entity: { id: row.entityId, login: row.entityName },
  repository: { id: row.repoId, fullName: row.repoFullName },
  pool: row.pool,
  labels: [...row.labels],
  worker: row.podName,
  conclusion: row.conclusion,
  failure: row.failure,
  wait:
    row.waitReason === null || row.waitSince === null
      ? null
      : { reason: row.waitReason, since: row.waitSince.toISOString() },
  url: row.htmlUrl,
  createdAt: row.createdAt.toISOString(),
  queuedAt: row.queuedAt?.toISOString() ?? null,
  startedAt: row.startedAt?.toISOString() ?? null,
  completedAt: row.completedAt?.toISOString() ?? null,
});
