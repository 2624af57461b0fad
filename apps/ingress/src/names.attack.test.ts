import { expect, test } from '@jest/globals';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { type JsonObject, examplePayload } from '@paddock/testing/signed-delivery';
import { sql } from 'kysely';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Ingress,
  configOf,
  createIngressDatabase,
  jobDelivery,
  putPoolsOf,
  signed,
  useIngresses,
} from './scenes/ingress.scene.ts';

const ACME = { id: 11, login: 'acme', type: 'Organization' };
/** An entity that takes a login which another has given up. */
const THIEF = { id: 666, login: 'ACME', type: 'User' };

const database = useTestDatabase(createIngressDatabase);
const start = useIngresses(database);
let ingress: Ingress;

async function startWith(entities: object): Promise<void> {
  const config = configOf({ entities });
  await putPoolsOf(database, config);
  ingress = await start({ config });
  await ingress.untilReady();
}

const job = (id: number, owner: JsonObject, action: 'queued' | 'waiting' = 'queued') =>
  jobDelivery(
    action,
    id,
    {},
    {
      repository: { id: 21, owner },
      installation: { id: 1_000 + Number(owner['id']) },
    },
  );
const installed = (action: 'created' | 'deleted', entity: JsonObject) =>
  signed(
    'installation',
    examplePayload('installation', action, {
      installation: { id: 1_000 + Number(entity['id']), account: entity },
    }),
  );

const jobs = () =>
  database.db.selectFrom('jobs').select(['job_id', 'entity_id']).orderBy('job_id').execute();

test.each([{ acme: {} }, { Acme: {}, '*': {} }])(
  'an entity that takes a freed login of entities (%j) is served no job, in any order of deliveries',
  async (entities) => {
    await startWith(entities);
    expect(await ingress.tell(job(1, ACME))).toBe('job_stored');
    expect(await ingress.tell(job(2, THIEF))).toBe('refused_entity');
    expect(await ingress.tell(installed('created', THIEF))).toBe('refused_entity');
    expect(await ingress.tell(job(3, THIEF, 'waiting'))).toBe('refused_entity');
    expect(await ingress.tell(job(4, ACME))).toBe('job_stored');
    expect(await jobs()).toEqual([
      { job_id: 1, entity_id: ACME.id },
      { job_id: 4, entity_id: ACME.id },
    ]);
    // The event, the metric and the log report it.
    const events = database.db
      .selectFrom('installation_events')
      .select('job_id')
      .where('outcome', '=', 'refused_entity');
    expect(await events.where('entity_id', '=', THIEF.id).orderBy('id').execute()).toEqual([
      { job_id: 2 },
      { job_id: null },
      { job_id: 3 },
    ]);
    expect(
      await ingress.metric(
        'paddock_deliveries_total{event="workflow_job",outcome="refused_entity"}',
      ),
    ).toBe(2);
    // Once it has ended, all that it has logged is here.
    await ingress.end('SIGTERM');
    expect(ingress.lines().filter((line) => line.includes('refused an entity'))).toHaveLength(1);
  },
);

test('a login stays its entity’s when nothing else is left of it, until a person says otherwise', async () => {
  await startWith({ acme: {} });
  expect(await ingress.tell(installed('created', ACME))).toBe('ok');
  expect(await ingress.tell(installed('deleted', ACME))).toBe('ok');
  await emptyTables(database.db, ['jobs', 'installations', 'installation_events']);
  expect(await ingress.tell(job(2, THIEF))).toBe('refused_entity');
  const page = readFileSync(join(import.meta.dirname, '../../../docs/whose-jobs.md'), 'utf8');
  const [, statement = ''] = /^(update login_pins [^;]+);/m.exec(page) ?? [];
  await sql.raw(statement.replace(/= \d+/, `= ${THIEF.id}`)).execute(database.db);
  expect(await ingress.tell(job(3, THIEF))).toBe('job_stored');
  expect(await ingress.tell(job(4, ACME))).toBe('refused_entity');
});

test('a renamed entity is served by its id, and its old login serves no other', async () => {
  await startWith({ acme: {}, 'id:11': {} });
  const renamed = { ...ACME, login: 'acme-new' };
  const pin = { login: 'acme', entity_id: ACME.id };
  await database.db.insertInto('login_pins').values(pin).execute();
  expect(await ingress.tell(job(1, renamed))).toBe('job_stored');
  expect(await ingress.tell(job(2, THIEF))).toBe('refused_entity');
});

test('when two entities have a login at the same instant, one is served', async () => {
  const logins = Array.from({ length: 20 }, (_, nth) => `org-${nth}`);
  await startWith(Object.fromEntries(logins.map((login) => [login, {}])));
  const other = await start();
  await other.untilReady();
  const outcomes = await Promise.all(
    logins.map((login, nth) =>
      Promise.all([
        ingress.tell(job(100 + nth, { ...ACME, id: 100 + nth, login })),
        other.tell(job(200 + nth, { ...ACME, id: 200 + nth, login })),
      ]),
    ),
  );
  for (const both of outcomes) expect(both.toSorted()).toEqual(['job_stored', 'refused_entity']);
  const { rows } =
    await sql`select j.entity_id, p.entity_id as pinned from jobs j join login_pins p on p.login = j.entity_name`.execute(
      database.db,
    );
  expect(rows).toHaveLength(logins.length);
  for (const row of rows)
    expect(row).toMatchObject({ entity_id: (row as { pinned: number }).pinned });
});
