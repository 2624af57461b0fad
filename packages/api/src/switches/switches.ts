import { POOLS_IN_FORCE } from '@paddock/db/pools/pools-documents';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import {
  EVERY_SWEEP,
  findSwitches,
  liftSwitch,
  setSwitch,
  SUBJECT,
  type SwitchSubject,
} from '@paddock/db/switches';
import { DISCOVER_JOBS, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { sql } from 'kysely';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { entityIdOf } from '../lists/named.ts';
import { notFound } from '../problem.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { act, note } from '../actions/list-actions.ts';

const held = z.object({
  by: z.string().describe('Who holds it back; of several that asked, the first'),
  since: instant,
  note: z.string().nullable(),
});

const subjectText = z
  .string()
  .describe(
    '`environment`, `pool:NAME`, `entity:ID`; `sweeps`, the name of a sweep, or `SWEEP:SUBJECT` as in `discover-jobs:acme/api`',
  );

const switchRow = held.extend({
  subject: subjectText,
  name: z.string().nullable().describe('The login of an entity'),
});

export const switchState = z.object({
  subject: subjectText,
  held: held.nullable().describe('null: it goes on, unless another switch holds it back too'),
});

export async function readSwitch(
  db: Db,
  subject: SwitchSubject,
): Promise<z.output<typeof switchState>> {
  const [found] = await findSwitches(db, [subject]);
  if (found === undefined) return { subject, held: null };
  return { subject, held: { by: found.by, since: found.since, note: found.note } };
}

const switchSubject = z
  .string()
  .max(300)
  .regex(
    new RegExp(
      String.raw`^(environment|(pool|entity):[^\s:]+|${EVERY_SWEEP}|(${SWEEPS.join('|')})(:\S+)?)$`,
    ),
    `must be environment, pool:NAME, entity: with a login or an id, ${EVERY_SWEEP}, or the name of a sweep`,
  )
  .describe(
    '`environment`, `pool:NAME`, `entity:` with a login or an id; `sweeps`, the name of a sweep, or `SWEEP:SUBJECT` as in `discover-jobs:acme/api`',
  );

/** The subject as the rows name it. Rejects with a Problem if no entity has this login. */
async function readSubject(caller: Caller, text: string): Promise<SwitchSubject> {
  const [type, name] = text.split(':');
  if (type === 'entity') return `entity:${await entityIdOf(caller, name)}`;
  return type === DISCOVER_JOBS ? text.toLowerCase() : text;
}

/** Rejects with a Problem if there is no such thing: a misspelt name would hold nothing back. */
export async function requireKnown({ db }: Caller, subject: SwitchSubject): Promise<void> {
  const [type, name = ''] = subject.split(':');
  if (type === 'pool' && !(await isKnownPool(db, name)))
    throw notFound(`There is no pool of the name ${name}.`);
  if (type !== 'entity') return;
  const known = db.selectFrom('installations').where('entity_id', '=', Number(name)).limit(1);
  if ((await known.execute()).length === 0)
    throw notFound(`No App was ever installed on an entity of the id ${name}.`);
}

/** Whether a pool of this name is in force, or live workers or waiting jobs name it. */
async function isKnownPool(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`
    select where exists (select from ${POOLS_IN_FORCE} where p ->> 'name' = ${name})
      or exists (select from workers where k8s_pool = ${name} and ${LIVE}) or exists (select from jobs where k8s_pool = ${name} and wants_worker)`.execute(
    db,
  );
  return rows.length > 0;
}

export const listSwitchesEndpoint = endpoint({
  name: 'listSwitches',
  path: '/api/v1/switches',
  summary: 'Lists what people hold back now, the oldest first, with who, since when and why.',
  input: z.object(pageInput(z.tuple([z.string().max(40), z.string()]))),
  output: pageOf(switchRow),
  answer: async ({ db }, input) => toPage(await listSwitches(db, input), input.limit),
});

async function listSwitches(
  db: Db,
  { limit: most, after: last }: { limit: number; after?: readonly [string, string] | undefined },
): Promise<Placed<z.output<typeof switchRow>>[]> {
  const isAfter =
    last === undefined
      ? sql`true`
      : sql`(since, ${SUBJECT}) > (${last[0]}::timestamptz, ${last[1]})`;
  return rowsOf<Placed<z.output<typeof switchRow>>>(db)`
    select ${SUBJECT} as subject, switched_by as by, since, note, json_build_array(since::text, ${SUBJECT}) as position,
      (select login from installations where entity_id = case subject_type when 'entity' then subject_id::bigint end
        order by updated_at desc limit 1) as name
    from switches where ${isAfter} order by since, subject limit ${most}`;
}

export const turnSwitchEndpoint = endpoint({
  name: 'turnSwitch',
  method: 'POST',
  path: '/api/v1/switches/{subject}/{how}',
  summary:
    'Holds the making of workers or a sweep back at once, or lets it go on: then what another switch holds back stays. Workers that are there go on; a pass that runs ends within seconds, and a dry run still runs.',
  input: z.object({ subject: switchSubject, how: z.enum(['pause', 'resume']), note }),
  output: switchState,
  async answer(caller, { subject: text, how }, request) {
    const subject = await readSubject(caller, text);
    // Resuming refuses a misspelt name, but not a subject that is gone while its switch stands.
    if (how === 'pause' || (await readSwitch(caller.db, subject)).held === null)
      await requireKnown(caller, subject);
    return act(caller, { ...request, subject: { subject, how } }, async (trx) => {
      if (how === 'pause') await setSwitch(trx, subject, caller.person, request.note);
      else await liftSwitch(trx, subject);
      return readSwitch(trx, subject);
    });
  },
});
