import {
  INSTANTS,
  type LastHour,
  type PoolHour,
  readLastHour,
} from '@paddock/db/people/read-last-hour';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { ofKnownPool } from '../lists/named.ts';

const STEP_MS = 60_000;

const counts = z.array(z.int().min(0).nullable()).length(INSTANTS);
const times = z.array(z.number().min(0).nullable()).length(INSTANTS);

const pool = z.object({
  pool: z.string(),
  waiting: counts.describe('Jobs that waited for a worker'),
  workers: counts.describe('Workers that lived'),
  busy: counts.describe('Those of them that had a job'),
  queuedP50Ms: times.describe(
    'How long GitHub had had the jobs queued that started in the minute before; null without any',
  ),
  queuedP95Ms: times,
});

export const lastHourEndpoint = endpoint({
  name: 'lastHour',
  method: 'GET',
  path: '/api/v1/pools/last-hour',
  summary: 'Tells how many jobs waited and how many workers lived in each minute of the last hour.',
  access: 'read',
  status: 200,
  input: z.object({ pool: z.string().max(300).optional().describe('Of this pool only') }),
  output: z.object({
    at: z.iso.datetime().describe(`The last of ${INSTANTS} instants`),
    stepMs: z.int().describe('From one instant to the next'),
    items: z
      .array(pool)
      .describe(
        'By name, those with jobs or workers in the hour. Null: too many rows are newer than that instant',
      ),
  }),
  async answer(caller, { pool: only }) {
    const { at, wholeSince, pools } = await readLastHour(caller.db);
    const asked = pools.filter(({ pool: name }) => only === undefined || name === only);
    await ofKnownPool(caller, only, Promise.resolve(asked));
    const first = firstWhole({ at, wholeSince });
    return {
      at: at.toISOString(),
      stepMs: STEP_MS,
      items: asked.map((one) => fromInstant(one, first)),
    };
  },
});

const firstWhole = ({ at, wholeSince }: Pick<LastHour, 'at' | 'wholeSince'>): number =>
  wholeSince === null
    ? 0
    : INSTANTS - 1 - Math.floor((at.getTime() - wholeSince.getTime()) / STEP_MS);

function fromInstant({ pool: name, ...lines }: PoolHour, first: number): z.input<typeof pool> {
  const cut = <T>(line: readonly T[]) => line.map((value, n) => (n < first ? null : value));
  return {
    pool: name,
    waiting: cut(lines.waiting),
    workers: cut(lines.workers),
    busy: cut(lines.busy),
    queuedP50Ms: cut(lines.queuedP50Ms),
    queuedP95Ms: cut(lines.queuedP95Ms),
  };
}
