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
];
