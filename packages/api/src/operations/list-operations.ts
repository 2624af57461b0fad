import { allOf, has } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { isOperation } from '@paddock/queue/operations';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { ended, FAILURES, operation, operationRow, STATUS, unfinished } from './operation.ts';

const listedOperation = operationRow.extend(
  operation.pick({ output: true, failures: true }).partial().shape,
);

type Listed = Placed<z.output<typeof listedOperation>>;

/** What the lists of operations and the acts on failed ones are narrowed to. */
export const operationFilter = {
  subject: z
    .string()
    .max(300)
    .regex(/^[a-z-]+:[^\s]+$/, 'must be TYPE:ID, such as repository:acme/app or worker:NAME')
    .transform((text) => {
      const [type, id] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
      // As `resyncRepository` names it: GitHub ignores the case.
      return { type, id: type === 'repository' ? id.toLowerCase() : id };
    })
    .optional()
    .describe('TYPE:ID, such as repository:acme/app or worker:NAME'),
  kind: z.string().max(100).optional().describe('Of this kind of task only'),
  reason: z
    .string()
    .max(100)
    .optional()
    .describe('Why it failed, as in `failure`: poison, attempts, crashes, timeout'),
  ...dates,
};

const input = z.object({
  ...operationFilter,
  status: operation.shape.status.optional().describe('Where it stands'),
  handled: z
    .enum(['true', 'false'])
    .optional()
    .describe('Of failed ones: whether somebody has retried or discarded it'),
  detail: z
    .enum(['true', 'false'])
    .default('false')
    .transform((given) => given === 'true')
    .describe('`true`: each with its output and its failed runs'),
  ...pageInput(z.tuple([z.int().min(0).max(2), z.string().max(40), z.uuid()])),
});

export const listOperationsEndpoint = endpoint({
  name: 'listOperations',
  path: '/api/v1/operations',
  summary:
    'Lists operations: those that run, then those that wait, then those that ended, each the newest first.',
  input,
  output: pageOf(listedOperation),
  answer: async ({ db }, given) => toPage(await listOperations(db, given), given.limit),
});

/** SQL over a row of tasks: those that run come first. */
const RANK = sql`case ${STATUS} when 'RUNNING' then 2 else 1 end`;

/** Every kind that has an operation: each found by the index, behind the one before. */
const KINDS = sql`
  with recursive kinds as (
    (select kind from operations order by kind limit 1)
    union all
    select (select kind from operations o where o.kind > kinds.kind order by kind limit 1) from kinds where kinds.kind is not null
  ) select kind from kinds where kind is not null`;

async function listOperations(db: Db, given: z.output<typeof input>): Promise<Listed[]> {
  const { subject, kind, reason, from, to, status, handled, detail, limit, after } = given;
  const [rank = 2, at = '', id = ''] = after ?? [];
  const behind = sql`(${rank}, ${at}::timestamptz, ${id}::uuid)`;
  const open = allOf(
    subject && sql`subject_id = ${subject.id} and subject_type = ${subject.type}`,
    has('kind', kind),
    from && sql`queued_at >= ${from}`,
    to && sql`queued_at < ${to}`,
    status === undefined ? undefined : sql`${STATUS} = ${status}`,
    reason === undefined ? undefined : sql`failures -> -1 ->> 'reason' = ${reason}`,
    after && sql`(${RANK}, queued_at, id) < ${behind}`,
  );
  const over = allOf(
    sql`expires_at > now() and ${isOperation(given)}`,
    handled === undefined ? undefined : sql`(handled_at is not null) = ${handled === 'true'}`,
    after && sql`(0, finished_at, id) < ${behind}`,
  );
  const newestEnded = (isOf: RawBuilder<unknown>) => sql`(
    ${ended(detail)} where ${isOf} and ${over} order by finished_at desc, id desc limit ${limit})`;
  const ends = handled === undefined ? ['OK', 'ERROR'] : ['ERROR'];
  const statuses = ends.filter((one) => status === undefined || one === status);
  // Each by its index: of a subject, of a reason, or of a kind and a status.
  const allEnded = subject
    ? newestEnded(sql`status = any (${statuses}::text[])`)
    : reason !== undefined && kind === undefined
      ? newestEnded(sql`status = 'ERROR' and 'ERROR' = any (${statuses}::text[])`)
      : sql`
    select one.* from (${kind === undefined ? KINDS : sql`select ${kind}::text as kind`}) of_kind
    cross join unnest(${statuses}::text[]) of_status
    cross join lateral ${newestEnded(sql`kind = of_kind.kind and status = of_status`)} one`;
  return rowsOf<Listed>(db)`
    select found.*, json_build_array(rank, at::text, id) as position${detail ? sql`, ${FAILURES} as failures` : sql``} from (
      select *, case status when 'RUNNING' then 2 when 'QUEUED' then 1 else 0 end as rank, coalesce("finishedAt", "queuedAt") as at from (
        (${unfinished(detail)} where ${handled === undefined} and ${open} order by ${RANK} desc, queued_at desc, id desc limit ${limit})
        union all ${allEnded}
      ) meant
    ) found
    order by rank desc, at desc, id desc limit ${limit}`;
}
