import { afterEach, expect, test } from '@jest/globals';
import type { TestDatabase } from '@paddock/testing/database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { type JsonObject, examplePayload } from '@paddock/testing/signed-delivery';
import { sql } from 'kysely';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Ingress,
  createIngressDatabase,
  jobDelivery,
  signed,
  startIngress,
} from './scenes/ingress.scene.ts';

const ACME = { id: 11, login: 'acme', type: 'Organization' };
/** An entity that takes a login which another has given up. */
const THIEF = { id: 666, login: 'ACME', type: 'User' };

const configOf = (entities: string) => `
github:
  apps: [{ id: 7, webhookSecret: { env: HOOK_SECRET } }]
pools:
  - { name: small, labels: [self-hosted, linux], image: runner:1, namespace: runners }
entities: ${entities}
`;

let database: TestDatabase;
let ingress: Ingress;

async function startWith(entities: string): Promise<void> {
  const config = configOf(entities);
  database = await createIngressDatabase(config);
  ingress = await startIngress({
    ...database,
    config,
  });
  await ingress.untilReady();
}

afterEach(async () => {
  await ingress.end('SIGTERM');
  await database.drop();
});

const job = (
  id: number,
  owner: JsonObject,
  action: 'queued' | 'waiting' = 'queued',
  times: JsonObject = {},
) =>
  jobDelivery(action, id, times, {
    repository: { id: 21, owner },
    installation: { id: 1_000 + Number(owner['id']) },
  });
const installed = (action: 'created' | 'deleted', entity: JsonObject) =>
  signed(
    'installation',
    examplePayload('installation', action, {
      installation: { id: 1_000 + Number(entity['id']), account: entity },
    }),
  );

const outcomeOf = async (delivery: ReturnType<typeof signed>) =>
  (await ingress.deliver(await delivery)).text;
const at = (day: number) => `2026-01-0${day}T00:00:00Z`;
const known = () =>
  database.db
    .selectFrom('installations')
    .select(['login', 'suspended_at'])
    .executeTakeFirstOrThrow();
const send = async (service: Ingress, id: number, login: string) => {
  const delivery = await job(id, { id, login, type: 'Organization' });
  return (await service.deliver(delivery)).text;
};
const jobs = async () => {
  const rows = await database.db
    .selectFrom('jobs')
    .select(['job_id', 'entity_id'])
    .orderBy('job_id')
    .execute();
  return rows.map((row) => [row.job_id, row.entity_id]);
};

/** A job of the entity, queued on that day under that login. */
const said = async (day: number, login: string, id: number) => {
  const times = { created_at: at(day), started_at: at(day) };
  return outcomeOf(job(id, { ...ACME, login }, 'queued', times));
};
/** The installation, as of that day. */
const stated = (day: number, login: string, action: 'created' | 'suspend') => {
  const installation = {
    id: 1_011,
    account: { ...ACME, login },
    updated_at: at(day),
    suspended_at: action === 'suspend' ? at(day) : null,
  };
  return outcomeOf(
    signed('installation', examplePayload('installation', action, { installation })),
  );
};

test.each(['{ acme: {} }', "{ Acme: {}, '*': {} }"])(
  'an entity that takes a freed login of entities (%s) is served no job, in any order of deliveries',
  async (entities) => {
    await startWith(entities);
    expect(await outcomeOf(job(1, ACME))).toBe('job_stored');
    expect(await outcomeOf(job(2, THIEF))).toBe('refused_entity');
    expect(await outcomeOf(installed('created', THIEF))).toBe('refused_entity');
    expect(await outcomeOf(job(3, THIEF, 'waiting'))).toBe('refused_entity');
    expect(await outcomeOf(job(4, ACME))).toBe('job_stored');
    expect(await jobs()).toEqual([
      [1, 11],
      [4, 11],
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
  await startWith('{ acme: {} }');
  expect(await outcomeOf(installed('created', ACME))).toBe('ok');
  expect(await outcomeOf(installed('deleted', ACME))).toBe('ok');
  await emptyTables(database.db, ['jobs', 'installations', 'installation_events']);
  expect(await outcomeOf(job(2, THIEF))).toBe('refused_entity');
  const page = readFileSync(join(import.meta.dirname, '../../../docs/pools.md'), 'utf8');
  const [, statement = ''] = /^(update login_pins [^;]+);/m.exec(page) ?? [];
  await sql.raw(statement.replace(/= \d+/, `= ${THIEF.id}`)).execute(database.db);
  expect(await outcomeOf(job(3, THIEF))).toBe('job_stored');
  expect(await outcomeOf(job(4, ACME))).toBe('refused_entity');
});

test('a renamed entity is served by its id, and its old login serves no other', async () => {
  await startWith('{ acme: {}, id:11: {} }');
  const renamed = { ...ACME, login: 'acme-new' };
  await database.db
    .insertInto('login_pins')
    .values({ login: 'acme', entity_id: ACME.id })
    .execute();
  expect(await outcomeOf(job(1, renamed))).toBe('job_stored');
  expect(await outcomeOf(job(2, THIEF))).toBe('refused_entity');
});

test('when two entities have a login at the same instant, one is served', async () => {
  const logins = Array.from({ length: 20 }, (_, nth) => `org-${nth}`);
  await startWith(`{ ${logins.map((login) => `${login}: {}`).join(', ')} }`);
  const other = await startIngress({ ...database, config: configOf('{}') });
  await other.untilReady();
  const outcomes = await Promise.all(
    logins.map((login, nth) =>
      Promise.all([send(ingress, 100 + nth, login), send(other, 200 + nth, login)]),
    ),
  );
  await other.end('SIGTERM');
  for (const both of outcomes) expect(both.toSorted()).toEqual(['job_stored', 'refused_entity']);
  const { rows } =
    await sql`select j.entity_id, p.entity_id as pinned from jobs j join login_pins p on p.login = j.entity_name`.execute(
      database.db,
    );
  expect(rows).toHaveLength(logins.length);
  for (const row of rows)
    expect(row).toMatchObject({ entity_id: (row as { pinned: number }).pinned });
});

test('a statement from before a renaming never turns the name back, even if it comes late', async () => {
  await startWith("{ '*': {} }");
  await stated(1, 'acme', 'created');
  await said(4, 'acme-new', 1);
  await said(3, 'acme', 2);
  expect(await known()).toMatchObject({ login: 'acme-new' });
  await stated(2, 'acme', 'suspend');
  expect(await known()).toMatchObject({ login: 'acme-new' });
  // The newer statement counts.
  await stated(5, 'acme-newer', 'created');
  await stated(2, 'acme', 'suspend');
  await said(4, 'acme', 3);
  expect(await known()).toEqual({ login: 'acme-newer', suspended_at: null });
  await said(6, 'acme-newest', 4);
  expect(await known()).toMatchObject({ login: 'acme-newest' });
});
