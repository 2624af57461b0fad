import { findMatchingSettings, IS_CONFIGURED } from '@paddock/db/instance';
import { isoText, LONGEST_FAILURE } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant, instantOfDay, instantText } from '../lists/dates.ts';
import { githubId, pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import {
  DELETING_SWEEPS,
  REDELIVER,
  SCHEDULED_SWEEPS,
  SWEEP_ATTEMPTS,
} from '@paddock/domain/tasks/sweep-names';
import { note } from '../actions/list-actions.ts';
import { notFound, wrong } from '../problem.ts';
import { operation } from '../operations/operation.ts';
import { startOperation, startSweep } from '../operations/start-operation.ts';

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

/** SQL: what a pass names, by the login where the name begins with the id of an entity. */
const namedIn = (part: 'unreached' | 'failing') => sql`array(
  select distinct coalesce((select login from installations where entity_id::text = split_part(key, ' ', 1) order by updated_at desc limit 1), key)
  from jsonb_object_keys(last_pass -> ${sql.lit(part)}) key order by 1)`;

/** The newest run of each is found by the index of its subject. */
const listSweeps = (db: Db, most: number, last = '') => rowsOf<Placed<Sweep>>(db)`
    select name, json_build_array(name) as position, succeeded_at as "succeededAt", (
        select json_build_object('operation', id, 'status', status, 'endedAt', ${isoText('finished_at')},
          'tookMs', (extract(epoch from finished_at - coalesce(started_at, finished_at)) * 1000)::float8, 'message', left(failure_message, ${LONGEST_FAILURE}))
        from operations o where o.subject_id = s.subject and o.subject_type = s.type and o.kind = s.kind order by finished_at desc, id desc limit 1
      ) as "lastRun",
      (select switched_by from switches where subject_type = 'sweep' and subject_id in ('', s.kind, s.name) order by since limit 1) as "pausedBy",
      ${namedIn('unreached')} as unreached, ${namedIn('failing')} as failing
    from (
      select name, succeeded_at, last_pass, split_part(name, ':', 1) as kind, case when name like '%:%' then split_part(name, ':', 2) else name end as subject,
        case when name like '%:%' then 'app' else 'schedule' end as type, case when name like '%:%' then split_part(name, ':', 2)::bigint end as app_id
      from schedules where name > ${last}) s
    where ${IS_CONFIGURED} order by name limit ${most}`;

export const app = githubId().describe('An App’s id');

/** The App that is meant: the only one, if none is named. Rejects with a Problem. */
export async function meantApp(db: Db, given: number | undefined): Promise<number> {
  const known = await findScheduledApps(db);
  const names = known.join(', ') || 'none';
  if (given === undefined && known.length !== 1)
    throw wrong(`Name the App in \`app\`. The reconciler knows ${names}.`);
  const found = known.find((one) => given === undefined || one === given);
  if (found !== undefined) return found;
  throw notFound(`The reconciler does not know the App ${given}. It knows ${names}.`);
}

/** The Apps whose delivery log the reconciler reads: each has a schedule, and keeps it once it has gone. */
async function findScheduledApps(db: Db): Promise<number[]> {
  const { appIds } = (await findMatchingSettings(db)) ?? {};
  const rows = await db
    .selectFrom('schedules')
    .select('name')
    .where('name', '~', '^redeliver:[0-9]+$')
    .execute();
  const known = rows.map(({ name }) => Number(name.split(':')[1])).toSorted((a, b) => a - b);
  return known.filter((id) => appIds?.includes(id) ?? true);
}

const WITH_DRY_RUN = [...DELETING_SWEEPS].join(', ');

export const runSweepEndpoint = endpoint({
  name: 'runSweep',
  method: 'POST',
  path: '/api/v1/sweeps/{sweep}/run',
  summary:
    'Runs a sweep of the reconciler now. The output of the operation is its counts. `redeliver` with `since` has GitHub repeat all deliveries since an instant that our events lack, also those that GitHub calls delivered.',
  status: 202,
  input: z.object({
    sweep: z.enum([REDELIVER, ...SCHEDULED_SWEEPS]),
    app: app.optional().describe('For `redeliver`, if there are several: an App’s id'),
    since: instantOfDay((day) => day)
      .optional()
      .describe('For `redeliver`: 2026-01-31, an ISO 8601 instant, or -7d, -24h'),
    dryRun: z
      .boolean()
      .default(false)
      .describe(`Only count what it would delete, also while it is paused: ${WITH_DRY_RUN}`),
    note,
  }),
  output: operation,
  answer(caller, { sweep, app: given, since, dryRun }, request) {
    if (sweep !== REDELIVER && given !== undefined) throw wrong(`${sweep} is not about one App.`);
    if (sweep !== REDELIVER && since !== undefined) throw wrong('Only `redeliver` has `since`.');
    if (since !== undefined && since.getTime() > Date.now())
      throw wrong('`since` is in the future.');
    if (dryRun && !DELETING_SWEEPS.has(sweep))
      throw wrong(
        `${sweep} deletes nothing at GitHub or in the cluster: only ${WITH_DRY_RUN} have a dry run.`,
      );
    const subject = {
      ...request.subject,
      ...(given !== undefined && { app: given }),
      ...(since !== undefined && { since: since.toISOString() }),
      ...(dryRun && { dryRun: 'true' }),
    };
    // A dry run has a subject of its own: a kind and subject have one queued task, and it must not
    // take the place of a real one.
    if (dryRun)
      return startOperation(caller, { ...request, subject }, () => ({
        kind: sweep,
        subject: { type: 'dry-run', id: sweep },
        payload: { dryRun },
        maxAttempts: SWEEP_ATTEMPTS,
      }));
    return startSweep(caller, { ...request, subject }, async (trx) => ({
      kind: sweep,
      subject:
        sweep === REDELIVER
          ? { type: 'app', id: String(await meantApp(trx, given)) }
          : { type: 'schedule', id: sweep },
      ...(since === undefined
        ? { maxAttempts: SWEEP_ATTEMPTS }
        : { payload: { since: since.toISOString() } }),
    }));
  },
});
