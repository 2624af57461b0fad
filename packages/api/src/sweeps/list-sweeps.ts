import { isoText, LONGEST_FAILURE } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant, instantText } from '../lists/dates.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';

const sweepRow = z.object({
  name: z.string().describe('As `check-apps`; of `redeliver`, with its App, as `redeliver:1001`'),
  succeededAt: instant.describe('When a pass last succeeded; before the first one, its first tick'),
  lastRun: z
    .object({
      operation: z.uuid(),
      status: z.enum(['OK', 'ERROR']),
      endedAt: instantText,
      tookMs: z.number(),
      message: z.string().nullable().describe('Why it failed'),
    })
    .nullable()
    .describe('null: none, or its operation has expired'),
  pausedBy: z.string().nullable(),
  unreached: z.array(z.string()).describe('What the last pass did not reach, by its login or id'),
  failing: z.array(z.string()).describe('What it could not do there and tries again, by its name'),
});

type Sweep = z.output<typeof sweepRow>;

export const listSweepsEndpoint = endpoint({
  name: 'listSweeps',
  path: '/api/v1/sweeps',
  summary:
    'Lists the sweeps of the reconciler by name: when each last succeeded, its last run, and what it could not reach.',
  input: z.object(pageInput(z.tuple([z.string()]))),
  output: pageOf(sweepRow),
  answer: async ({ db }, { limit, after }) =>
    toPage(await listSweeps(db, limit, after?.[0]), limit),
});

/** The newest run of each is found by the index of its subject. */
const listSweeps = (db: Db, most: number, last = '') => rowsOf<Placed<Sweep>>(db)`
    select name, json_build_array(name) as position, succeeded_at as "succeededAt", (
        select json_build_object('operation', id, 'status', status, 'endedAt', ${isoText('finished_at')},
          'tookMs', (extract(epoch from finished_at - coalesce(started_at, finished_at)) * 1000)::float8, 'message', left(failure_message, ${LONGEST_FAILURE}))
        from operations o where o.subject_id = s.subject and o.subject_type = s.type and o.kind = s.kind order by finished_at desc, id desc limit 1
      ) as "lastRun",
      (select switched_by from switches where subject_type = 'sweep' and subject_id in ('', s.kind) order by since limit 1) as "pausedBy",
      array(select coalesce((select login from installations where entity_id::text = key order by updated_at desc limit 1), key)
        from jsonb_object_keys(last_pass -> 'unreached') key order by 1) as unreached,
      array(select jsonb_object_keys(last_pass -> 'failing') order by 1) as failing
    from (
      select name, succeeded_at, last_pass, split_part(name, ':', 1) as kind, case when name like '%:%' then split_part(name, ':', 2) else name end as subject,
        case when name like '%:%' then 'app' else 'schedule' end as type from schedules where name > ${last}) s order by name limit ${most}`;
