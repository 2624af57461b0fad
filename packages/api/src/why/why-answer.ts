import { WORKER_STATES } from '@paddock/domain/why/worker-progress';
import type { WaitAnswer } from '@paddock/domain/why/explain-wait';
import { z } from 'zod';
import { instant } from '../lists/dates.ts';

/** The answer to “why does my job wait?”, the same in the terminal, over HTTP and on the page. */
export const whyAnswer = z.object({
  job: z.object({
    id: z.int(),
    name: z.string(),
    repository: z.string(),
    pool: z.string().nullable().describe('null: no pool serves it'),
    url: z.string().nullable().describe('Its page at GitHub'),
    queuedAt: z.iso.datetime().nullable(),
  }),
  state: z.enum(['waiting', 'in_doubt', 'held', 'not_served', 'running', 'ended']),
  reason: z.string().nullable().describe('The stored word for it; null: workers are on their way'),
  sentence: z.string(),
  since: instant.nullable(),
  actor: z.enum(['wait', 'author', 'platform']).nullable().describe('Who can act'),
  advice: z.string().describe('What the actor can do'),
  place: z
    .object({
      position: z.int(),
      of: z.int(),
      olderOfEntity: z.int().describe('Older jobs of its entity in other queues'),
      olderOfPool: z.int().describe('Older jobs of other entities in its pool'),
    })
    .nullable()
    .describe('Its place among the waiting jobs of its scope and pool, by age'),
  lastStarts: z
    .object({
      jobs: z.int(),
      medianMs: z.int().describe('How long they waited, from GitHub’s queue until their start'),
    })
    .nullable()
    .describe('The last jobs of its queue that started; null: it waits for no worker, or none did'),
  workers: z.array(
    z.object({
      name: z.string(),
      state: z.enum(Object.keys(WORKER_STATES) as (keyof typeof WORKER_STATES)[]),
      detail: z.string(),
      ageMs: z.int(),
    }),
  ),
  workersInAll: z.int().describe('`workers` names the readiest of them'),
  caps: z.array(z.object({ name: z.string(), used: z.int(), limit: z.int() })),
  change: z
    .string()
    .nullable()
    .describe('Which limit would give it a worker now, if a cap holds it back'),
  earlier: z
    .array(z.object({ reason: z.string(), since: instant, until: instant }))
    .describe('What the jobs of its queue waited for before, while it waited; the latest first'),
  evidence: z
    .record(z.string(), z.unknown())
    .describe('The facts that the answer was made from, as they are stored'),
});

/** As it travels. */
export type WhyAnswer = z.input<typeof whyAnswer>;

export type Explained = z.output<typeof whyAnswer>;

/** A key may have thousands of workers, and people want to see how the next ones get on. */
const MOST_WORKERS = 20;

export const toWhyAnswer = (
  job: Explained['job'],
  { workers, caps, earlier, ...answer }: WaitAnswer & Pick<Explained, 'change'>,
  evidence: object,
): Explained => ({
  job,
  ...answer,
  workers: workers.slice(0, MOST_WORKERS),
  workersInAll: workers.length,
  caps: [...caps],
  earlier: [...earlier],
  evidence: { ...evidence },
});
