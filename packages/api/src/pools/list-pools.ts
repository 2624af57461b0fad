import { type ListedPool, listPools } from '@paddock/db/people/list-pools';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const count = z.int().min(0);

const pool = z.object({
  name: z.string(),
  inForce: z
    .boolean()
    .describe('The pools in force have it; else jobs or workers still name it, or `(none)`'),
  labels: z.array(z.string()),
  demand: z.object({
    waiting: count.describe('Jobs that wait for a worker'),
    oldestSince: z.iso.datetime().nullable().describe('When the oldest of them was stored'),
    oldestJob: z.int().nullable().describe('Its id'),
  }),
  supply: z.object({
    starting: count.describe('Workers on their way'),
    idle: count,
    busy: count,
    stopping: count,
  }),
  cap: z
    .object({ used: count, limit: count })
    .nullable()
    .describe('The workers that live, and maxWorkers; null: the pool has no cap'),
  heldBack: z
    .array(
      z.object({
        what: z
          .string()
          .describe('How workers fail, or the service that is away: github, or a cluster'),
        entity: z
          .int()
          .nullable()
          .describe('Only workers for this entity are held back; null: a service is away'),
        login: z.string().nullable().describe('Of that entity'),
        message: z.string(),
        since: z.iso.datetime(),
        until: z.iso
          .datetime()
          .nullable()
          .describe(
            'No new workers until then; past: one may try whether it works again; null: until the service answers',
          ),
      }),
    )
    .describe('What holds new workers of the pool back'),
  lastHour: z
    .object({
      started: count,
      queuedP50Ms: z.number().nullable(),
      queuedP95Ms: z.number().nullable(),
    })
    .describe(
      'Of the newest 10 000 jobs those that started, and how long GitHub had had them queued',
    ),
});

export const listPoolsEndpoint = endpoint({
  name: 'listPools',
  method: 'GET',
  path: '/api/v1/pools',
  summary:
    'Lists all pools by name: demand, supply, caps, what holds workers back, and queue times.',
  access: 'read',
  status: 200,
  input: z.object({}),
  output: z.object({ items: z.array(pool) }),
  answer: async ({ db }) => ({ items: (await listPools(db)).map(toPool) }),
});

const toPool = (row: ListedPool): z.input<typeof pool> => ({
  name: row.pool,
  inForce: row.isInForce,
  labels: [...row.labels],
  demand: {
    waiting: row.waiting,
    oldestSince: row.oldestWaitingAt?.toISOString() ?? null,
    oldestJob: row.oldestJobId,
  },
  supply: { starting: row.starting, idle: row.idle, busy: row.busy, stopping: row.stopping },
  cap: row.maxWorkers === null ? null : { used: row.alive, limit: row.maxWorkers },
  heldBack: row.heldBack.map(({ what, entityId: entity, login, message, since, pausedUntil }) => ({
    what,
    entity,
    login,
    message,
    since: new Date(since).toISOString(),
    until: pausedUntil === null ? null : new Date(pausedUntil).toISOString(),
  })),
  lastHour: {
    started: row.started,
    queuedP50Ms: row.queuedP50Ms,
    queuedP95Ms: row.queuedP95Ms,
  },
});
