import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

/** Promises of the migrations, and of the schema's version. */
export const schema: readonly NamedMutant[] = [
  {
    mutant: 'all environments listen on one channel for demand',
    file: 'packages/db/src/connection/schema-name.ts',
    find: '`${schema}_queue_event`',
    replace: "`${schema.replace(/.*/s, 'paddock')}_queue_event`",
    tests: ['packages/db/src/schema/triggers.db.test.ts'],
  },
  {
    mutant: 'freed capacity wakes all environments on one channel',
    file: 'db/migrations/0001_schema.sql',
    find: `create function notify_queue_event() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_table_schema ||`,
    replace: `create function notify_queue_event() returns trigger language plpgsql as $$
begin
  perform pg_notify('paddock' ||`,
    tests: ['packages/db/src/schema/triggers.db.test.ts'],
  },
  {
    mutant: 'demand wakes all environments on one channel',
    file: 'db/migrations/0001_schema.sql',
    find: `create function notify_new_demand() returns trigger language plpgsql as $$
begin
  if exists (select from new_rows where wants_worker) then
    perform pg_notify(tg_table_schema ||`,
    replace: `create function notify_new_demand() returns trigger language plpgsql as $$
begin
  if exists (select from new_rows where wants_worker) then
    perform pg_notify('paddock' ||`,
    tests: ['packages/db/src/schema/triggers.db.test.ts'],
  },
  {
    mutant: 'new tasks wake all environments on one channel',
    file: 'db/migrations/0001_schema.sql',
    find: "pg_notify(tg_table_schema || '_task_event', due.kind)",
    replace: "pg_notify('paddock_task_event', due.kind)",
    tests: ['packages/db/src/schema/triggers.db.test.ts'],
  },
  {
    mutant: 'services of the version before stop at a newer schema',
    file: 'packages/db/src/schema-version.ts',
    find: 'if (version < SCHEMA_VERSION) {',
    replace: 'if (version !== SCHEMA_VERSION) {',
    tests: ['packages/db/src/migrate.db.test.ts'],
  },
];
