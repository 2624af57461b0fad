import { rowsOf } from '@paddock/db/rows';
import { PAUSED } from '@paddock/domain/why/diagnose-fleet';
import { sql } from 'kysely';
import { z } from 'zod';
import { act, note } from '../actions/list-actions.ts';
import { endpoint } from '../endpoint.ts';

export const tryAgainEndpoint = endpoint({
  name: 'tryAgain',
  method: 'POST',
  path: '/api/v1/diagnoses/{name}/try-again',
  summary:
    'Ends the pauses of a cause now: one worker of each key tries, GitHub is asked again where it refused, or the tasks of a kind that failed run. A wait that GitHub asked for stays.',
  input: z.object({
    name: z.enum(Object.values(PAUSED).flat()).describe('As the diagnosis has it'),
    pool: z.string().max(300).optional().describe('Keys and runner groups of this pool only'),
    kind: z.string().max(100).optional().describe('Of `tasks_asleep`: this kind of task only'),
    note,
  }),
  output: z.object({ tried: z.int().describe('How many pauses it ended') }),
  answer: (caller, { name, pool, kind }, request) =>
    act(
      caller,
      { ...request, subject: { name, ...(pool && { pool }), ...(kind && { kind }) } },
      async (trx) => {
        const isOf = pool === undefined ? sql`true` : sql`k8s_pool = ${pool}`;
        const isRefused = sql`refused_reason = ${name} and refused_until > now() and ${pool === undefined}`;
        const wake = sql`pg_notify(current_schema() || '_queue_event', 'demand_keys')`;
        const rows = await rowsOf<{ tried: number }>(trx)`
        with of_keys as (
          update demand_keys set paused_until = now()
          where ${isOf} and paused_until > now() and coalesce(wait_reason, 'workers_failing') = ${name} returning ${wake}
        ), of_groups as (
          update runner_groups set paused_until = now() where ${isOf} and paused_until > now() and ${name} = 'runner_group_open' returning ${wake}
        ), of_apps as (update apps set refused_until = now() where ${isRefused} returning ${wake}),
        of_installations as (update installations set refused_until = now() where ${isRefused} returning ${wake}),
        of_repositories as (update repositories set refused_until = now() where ${isRefused} returning ${wake}),
        of_tasks as (
          update tasks set due_at = now() where ${name} = 'tasks_asleep' and status = 'queued' and due_at > now() and failures <> '[]'
            and kind = coalesce(${kind ?? null}::text, kind) returning pg_notify(current_schema() || '_task_event', kind)
        )
        select count(*) as tried from (
          select * from of_keys union all select * from of_groups union all select * from of_apps union all select * from of_installations
          union all select * from of_repositories union all select * from of_tasks
        ) ended`;
        return { tried: rows[0]?.tried ?? 0 };
      },
    ),
});
