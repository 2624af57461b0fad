import { readTaskCounts } from '@paddock/queue/operations';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates, instant } from '../lists/dates.ts';

const DAY_MS = 86_400_000;

export const countOperationsEndpoint = endpoint({
  name: 'countOperations',
  method: 'GET',
  path: '/api/v1/operations/counts',
  summary:
    'Counts the operations that ended, by kind, outcome and hour or day. Expiry does not change the counts, which are kept for 13 months.',
  access: 'read',
  status: 200,
  input: z.object({
    ...dates,
    kind: z.string().max(100).optional().describe('Of this kind of task only'),
    step: z.enum(['hour', 'day']).default('hour').describe('What each count is of'),
  }),
  output: z.object({
    items: z.array(
      z.object({
        from: instant.describe('When the hour or day begins, in UTC'),
        kind: z.string(),
        outcome: z.enum(['OK', 'ERROR']),
        reason: z.string().nullable().describe('Of those that failed'),
        ended: z.int(),
      }),
    ),
  }),
  async answer({ db }, { from, to = new Date(), step, kind }) {
    const range = { from: from ?? new Date(to.getTime() - DAY_MS), to, step };
    const counts = await readTaskCounts(db, kind === undefined ? range : { ...range, kind });
    return {
      items: counts.map(({ from: at, kind: counted, outcome, failureReason, ended }) => ({
        from: at,
        kind: counted,
        outcome,
        reason: failureReason,
        ended,
      })),
    };
  },
});
