import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

/** What statements of packages/db promise. */
export const statements: readonly NamedMutant[] = [
  {
    mutant: 'the jobs of a batch are locked in the order in which they are given',
    file: 'packages/db/src/jobs/jobs.ts',
    find: "'placed where pool is not null order by job_id'",
    replace: "'placed where pool is not null'",
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'each batch locks its jobs in an order of its own',
    file: 'packages/db/src/jobs/jobs.ts',
    find: "'placed where pool is not null order by job_id'",
    replace: "'placed where pool is not null order by random()'",
    tests: ['packages/db/src/deliveries/eight-connections.db.test.ts', 'apps/ingress/src/contention.db.test.ts'],
  },
  {
    mutant: 'the workers of a batch are locked from the last name to the first',
    file: 'packages/db/src/jobs/bind-workers.ts',
    find: 'where workers.assigned_job_id is null order by workers.pod_name for no key update of workers',
    replace: 'where workers.assigned_job_id is null order by workers.pod_name desc for no key update of workers',
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'installations that are mentioned are locked in the order in which they are given',
    file: 'packages/db/src/accounts/installations.ts',
    find: '    order by m.entity_id, m.app_id\n',
    replace: '',
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'a worker is bound to its job in a second transaction',
    file: 'packages/db/src/deliveries/record-deliveries.ts',
    find: `    await bindRunners(trx, stated, storedJobs, pools);
    return outcomes;
  });`,
    replace: `    return { outcomes, stated, storedJobs };
  }).then(({ outcomes, stated, storedJobs }) =>
    db.transaction().execute(async (trx) => {
      await bindRunners(trx, stated, storedJobs, pools);
      return outcomes;
    }));`,
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'all environments listen on one channel for demand',
    file: 'packages/db/src/connection/schema-name.ts',
    find: '`${schema}_queue_event`',
    replace: "`${schema.replace(/.*/s, 'paddock')}_queue_event`",
    tests: ['packages/db/src/schema/triggers.db.test.ts'],
  },
  {
    mutant: 'all environments are told of freed capacity on one channel',
    file: 'db/migrations/0001_core.sql',
    find: "perform pg_notify(tg_table_schema || '_queue_event', 'workers');",
    replace: "perform pg_notify('paddock_queue_event', 'workers');",
    tests: ['packages/db/src/schema/triggers.db.test.ts'],
  },
  {
    mutant: 'all environments are told of demand on one channel',
    file: 'db/migrations/0001_core.sql',
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
    mutant: 'all environments are told of new tasks on one channel',
    file: 'db/migrations/0002_queue.sql',
    find: "pg_notify(tg_table_schema || '_task_event', due.kind)",
    replace: "pg_notify('paddock_task_event', due.kind)",
    tests: ['packages/db/src/schema/triggers.db.test.ts'],
  },
  {
    mutant: 'a name that is taken fails the whole pass of the matcher',
    file: 'packages/db/src/matching/reserve-workers.ts',
    find: '    on conflict (pod_name) do nothing\n',
    replace: '',
    tests: ['packages/db/src/matching/taken-names.db.test.ts'],
  },
  {
    mutant: 'a warm worker’s name that is taken fails the whole pass of the matcher',
    file: 'packages/db/src/matching/warm-workers.ts',
    find: '    on conflict (pod_name) do nothing\n',
    replace: '',
    tests: ['packages/db/src/matching/taken-names.db.test.ts'],
  },
  {
    mutant: 'a pod whose row has come meanwhile fails the adoption of all others',
    file: 'packages/db/src/workers/adopt-workers.ts',
    find: '    on conflict (pod_name) do nothing\n',
    replace: '',
    tests: ['apps/scheduler/src/following/adopt-pods.db.test.ts'],
  },
  {
    mutant: 'verify-full takes a certificate for any name',
    file: 'packages/db/src/connection/tls.ts',
    find: "    case 'verify-full':\n      return { ...files, rejectUnauthorized: true };",
    replace: "    case 'verify-full':\n      return withoutHostCheck(files);",
    tests: ['test/src/postgres-tls.db.test.ts'],
  },
  {
    mutant: 'an authority that is given with require is not asked',
    file: 'packages/db/src/connection/tls.ts',
    find: 'sslrootcert === undefined ? { ...files, rejectUnauthorized: false } : withoutHostCheck(files)',
    replace: '{ ...files, rejectUnauthorized: false }',
    tests: ['test/src/postgres-tls.db.test.ts'],
  },
  {
    mutant: 'a certificate authority of ours is not among those that are trusted',
    file: 'packages/db/src/connection/tls.ts',
    find: "{ ca: read('sslrootcert', sslrootcert) }",
    replace: "{ cert: read('sslrootcert', sslrootcert) }",
    tests: ['test/src/postgres-tls.db.test.ts'],
  },
  {
    mutant: 'what requires TLS goes on without',
    file: 'packages/db/src/connection/prefer-tls.ts',
    find: 'ssl !== undefined && ssl !== false && ssl.isPreferred === true',
    replace: 'ssl !== undefined && ssl !== false',
    tests: ['test/src/postgres-tls.db.test.ts'],
  },
  {
    mutant: 'the listener is never encrypted',
    file: 'packages/db/src/connection/listen.ts',
    find: 'new PreferringClient({ ...config, query_timeout: heartbeatMs })',
    replace: 'new PreferringClient({ ...config, ssl: false, query_timeout: heartbeatMs })',
    tests: ['test/src/postgres-tls.db.test.ts'],
  },
  {
    mutant: 'a server with TLS is spoken to without, where the DSN says nothing',
    file: 'packages/db/src/connection/tls.ts',
    find: "const { sslmode = 'prefer',",
    replace: "const { sslmode = 'disable',",
    tests: ['test/src/postgres-tls.db.test.ts'],
  },
  {
    mutant: 'GitHub is believed whatever certificate it shows',
    file: 'packages/github/src/connect.ts',
    find: '  const fetch = boundedFetch(',
    replace: "  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';\n  const fetch = boundedFetch(",
    tests: ['test/src/network.test.ts'],
  },
  {
    mutant: 'the API server is believed whatever certificate it shows',
    file: 'packages/kube/src/connect.ts',
    find: "current.skipTLSVerify || address.startsWith('http:')",
    replace: 'true',
    tests: ['test/src/network.test.ts'],
  },
  {
    mutant: 'ingress may change all of a worker',
    file: 'db/roles.sql',
    find: 'grant update (assigned_job_id, assigned_at, unexplained_until) on workers to :ingress;',
    replace: 'grant update on workers to :ingress;',
    tests: ['apps/ingress/src/rights.attack.test.ts'],
  },
  {
    mutant: 'ingress may not end the wait for an explanation of a worker that it binds',
    file: 'db/roles.sql',
    find: 'grant update (assigned_job_id, assigned_at, unexplained_until) on workers to :ingress;',
    replace: 'grant update (assigned_job_id, assigned_at) on workers to :ingress;',
    tests: ['packages/db/src/deliveries/eight-connections.db.test.ts'],
  },
  {
    mutant: 'ingress may not read which deliveries are asked for',
    file: 'db/roles.sql',
    find: 'grant select (app_id, guid) on unresolved_deliveries to :ingress;\n',
    replace: '',
    tests: ['packages/db/src/deliveries/eight-connections.db.test.ts'],
  },
  {
    mutant: 'the reconciler may not remove finished operations',
    file: 'db/roles.sql',
    find: 'grant select, insert, update, delete on operations to :reconciler;',
    replace: 'grant select, insert, update on operations to :reconciler;',
    tests: ['apps/reconciler/src/sweeps.db.test.ts'],
  },
  {
    mutant: 'the scheduler may not see which pools people have stopped',
    file: 'db/roles.sql',
    find: 'grant select on instance, stopped_making to :scheduler;',
    replace: 'grant select on instance to :scheduler;',
    tests: ['apps/scheduler/src/matching/match.db.test.ts'],
  },
  {
    mutant: 'the reconciler may not remove old deliveries',
    file: 'db/roles.sql',
    find: 'grant select, insert, delete on installation_events, delivery_listings to :reconciler;',
    replace:
      'grant select, insert on installation_events to :reconciler;\ngrant select, insert, delete on delivery_listings to :reconciler;',
    tests: ['apps/reconciler/src/upkeep/retire-rows.db.test.ts'],
  },
];
