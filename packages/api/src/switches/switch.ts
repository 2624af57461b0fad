import { POOLS_IN_FORCE } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/worker-states';
import { EVERY_SWEEP, findSwitches, type SwitchSubject } from '@paddock/db/switches';
import { DISCOVER_JOBS, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { Caller } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { entityIdOf } from '../lists/named.ts';
import { notFound } from '../problem.ts';

/** By whom, since when and why something is held back. */
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

/** As lists have it. */
export const switchRow = held.extend({
  subject: subjectText,
  name: z.string().nullable().describe('The login of an entity'),
});

/** How a switch stands. */
export const switchState = z.object({
  subject: subjectText,
  held: held.nullable().describe('null: it goes on, unless another switch holds it back too'),
});

/** How the switch of this subject stands now. */
export async function readSwitch(
  db: Kysely<Database>,
  subject: SwitchSubject,
): Promise<z.output<typeof switchState>> {
  const [found] = await findSwitches(db, [subject]);
  if (found === undefined) return { subject, held: null };
  const { by, since, note } = found;
  return { subject, held: { by, since, note } };
}

/** The input `subject` of who sets a switch or lifts it. */
export const switchSubject = z
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
export async function readSubject(caller: Caller, text: string): Promise<SwitchSubject> {
  const [type, name] = text.split(':');
  if (type === 'entity') return `entity:${await entityIdOf(caller, name)}`;
  return type === DISCOVER_JOBS ? text.toLowerCase() : text;
}

/** Rejects with a Problem if there is no such thing: a misspelt name would hold nothing back. */
export async function requireKnown({ db }: Caller, subject: SwitchSubject): Promise<void> {
  const [type, name = ''] = subject.split(':');
  if (type === 'pool' && !(await isKnownPool(db, name)))
    throw notFound(`There is no pool of the name ${name}.`);
  if (type === 'entity' && !(await isKnownEntity(db, Number(name))))
    throw notFound(`No App was ever installed on an entity of the id ${name}.`);
}

/** Whether the App is, or was, installed on this entity. */
export async function isKnownEntity(db: Kysely<Database>, entityId: number): Promise<boolean> {
  const { rows } = await sql`
    select from installations where entity_id = ${entityId} limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether a pool of this name is in force, or workers of it are alive. */
export async function isKnownPool(db: Kysely<Database>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select where exists (select from ${POOLS_IN_FORCE} where p ->> 'name' = ${name})
      or exists (select from workers where k8s_pool = ${name} and ${LIVE})`.execute(db);
  return rows.length > 0;
}
