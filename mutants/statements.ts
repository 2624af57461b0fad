import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

/** Promises of the statements of packages/db. */
export const statements: readonly NamedMutant[] = [
  {
    mutant: 'each batch locks its jobs in a random order',
    file: 'packages/db/src/jobs/read-jobs.ts',
    find: 'order by job_id, position\n',
    replace: 'order by random()\n',
    tests: [
      'packages/db/src/deliveries/eight-connections.db.test.ts',
      'apps/ingress/src/concurrent.db.test.ts',
    ],
  },
  {
    mutant: 'the workers of a batch are locked from the last name to the first',
    file: 'packages/db/src/workers/bind-workers.ts',
    find: 'where workers.assigned_job_id is null order by workers.pod_name for no key update of workers',
    replace:
      'where workers.assigned_job_id is null order by workers.pod_name desc for no key update of workers',
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'installations that are mentioned are locked in the order in which they are given',
    file: 'packages/db/src/entities/installations.ts',
    find: '    order by m.entity_id, m.app_id\n',
    replace: '',
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'a worker is bound to its job in a second transaction',
    file: 'packages/db/src/deliveries/record-deliveries.ts',
    find: `      await bindRunners(trx, stored, pools);
      return outcomes;
    }),`,
    replace: `      return { outcomes, stored };
    }).then(({ outcomes, stored }) =>
      db.transaction().execute(async (trx) => {
        await bindRunners(trx, stored, pools);
        return outcomes;
      })),`,
    tests: ['packages/db/src/deliveries/lock-order.db.test.ts'],
  },
  {
    mutant: 'a name that is taken fails the whole pass of the matcher',
    file: 'packages/db/src/matching/reserve-workers.ts',
    find: 'order by o.created_at, o.job_id\n    on conflict (pod_name) do nothing',
    replace: 'order by o.created_at, o.job_id',
    tests: ['apps/scheduler/src/matching/match.db.test.ts'],
  },
  {
    mutant: 'a warm worker’s name that is taken fails the whole pass of the matcher',
    file: 'packages/db/src/matching/reserve-workers.ts',
    find: 'generate_series(1, key.count)\n    on conflict (pod_name) do nothing',
    replace: 'generate_series(1, key.count)',
    tests: ['apps/scheduler/src/matching/match.db.test.ts'],
  },
  {
    mutant: 'a pod whose row has come meanwhile fails the adoption of all others',
    file: 'packages/db/src/workers/registrations.ts',
    find: '    on conflict (pod_name) do nothing\n',
    replace: '',
    tests: ['packages/db/src/workers/adopt-workers.db.test.ts'],
  },
  {
    mutant: 'the reconciler may not remove finished operations',
    file: 'db/roles.sql',
    find: 'grant select, insert, update, delete on operations to :reconciler;',
    replace: 'grant select, insert, update on operations to :reconciler;',
    tests: ['apps/reconciler/src/sweeps.db.test.ts'],
  },
  {
    mutant: 'the reconciler may not remove old deliveries',
    file: 'db/roles.sql',
    find: 'grant select, insert, delete on installation_events to :reconciler;',
    replace: 'grant select, insert on installation_events to :reconciler;',
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'a lease is taken from a holder whose time is not over',
    file: 'packages/db/src/leases/leases.ts',
    find: 'where held.expires_at < now() or held.holder = excluded.holder',
    replace: 'where true',
    tests: ['packages/db/src/leases/leases.db.test.ts'],
  },
  {
    mutant: 'a former holder extends the lease',
    file: 'packages/db/src/leases/leases.ts',
    find: "    .set({ expires_at: sql`now() + ${milliseconds(leaseMs)}` })\n    .where('name', '=', name)\n    .where('fence', '=', fence)",
    replace:
      "    .set({ expires_at: sql`now() + ${milliseconds(leaseMs)}` })\n    .where('name', '=', name)",
    tests: ['packages/db/src/leases/leases.db.test.ts'],
  },
  {
    mutant: 'a worker that stops is out of every cap',
    file: 'packages/db/src/matching/read-snapshot.ts',
    find: 'from workers where ${LIVE} group by',
    replace: 'from workers where ${LIVE} and stopping_at is null group by',
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'the newest jobs get workers first',
    file: 'packages/db/src/matching/reserve-workers.ts',
    find: '      order by created_at, job_id limit wanted.count',
    replace: '      order by created_at desc, job_id limit wanted.count',
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'old events are removed out of order',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: 'where id < coalesce((select min(id) from next where not is_old), (select max(id) + 1 from next))',
    replace: 'where is_old',
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'the mark of retention moves back',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: 'where reached > events_retired_to',
    replace: 'where reached is not null',
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'a job is removed while its worker lives',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: '(values (assigned_job_id), (made_for_job_id)) of(id)',
    replace: '(values (made_for_job_id)) of(id)',
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'a repeated start takes back demand that GitHub has confirmed since',
    file: 'packages/domain/src/jobs/merge-statement.ts',
    find: "facts.status === 'pending' || isSameRun;",
    replace: "facts.status === 'pending';",
    tests: ['packages/domain/src/jobs/merge-statement.test.ts'],
  },
  {
    mutant: 'a job’s end is taken back by an earlier statement',
    file: 'packages/domain/src/jobs/merge-statement.ts',
    find: 'hasEnded || RANK[facts.status] < RANK[row.status] ? row.status : facts.status',
    replace: 'facts.status',
    tests: ['packages/domain/src/jobs/merge-statement.test.ts'],
  },
  {
    mutant: 'a repeated body leaves rows for ever',
    file: 'packages/db/src/events/installation-events.ts',
    find: 'count(id) + given.nth < ${MOST_EVENTS} or',
    replace: 'true or',
    tests: ['packages/db/src/deliveries/repeated-bodies.db.test.ts'],
  },
  {
    mutant: 'an extra pass is taken by every replica',
    file: 'packages/db/src/schedules/schedules.ts',
    find: "where('extra_at', '<=', NOW)",
    replace: "where('extra_at', 'is not', null)",
    tests: ['packages/db/src/schedules/extra-passes.db.test.ts'],
  },
  {
    mutant: 'a runner of another id under our name is ours',
    file: 'packages/db/src/jobs/read-jobs.ts',
    find: 'else runner_id = coalesce(given.runner_id, runner_id) end',
    replace: 'else true end',
    tests: ['apps/ingress/src/strangers.attack.test.ts'],
  },
  {
    mutant: 'a worker of another scope runs the job',
    file: 'packages/db/src/jobs/read-jobs.ts',
    find: `and entity_id = given.entity_id and scope_repo_id in (0, given.repo_id)
`,
    replace: `and entity_id = given.entity_id
`,
    tests: ['packages/db/src/jobs/record-jobs.db.test.ts'],
  },
  {
    mutant: 'a job is removed while its run continues',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: "\n  and j.run_id not in (select run_id from jobs where ${isUnended('jobs')})`",
    replace: '`',
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'a job whose worker is being made gets another',
    file: 'packages/db/src/matching/reserve-workers.ts',
    find: 'where demand_key = "demandKey" and wants_worker and job_id not in (select made_for_job_id from covered)',
    replace: 'where demand_key = "demandKey" and wants_worker',
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
];
