import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const scheduler: readonly NamedMutant[] = [
  {
    mutant: 'the cluster is read without a look at the lease',
    file: 'apps/scheduler/src/provisioning/provision-worker.ts',
    find: `  requireTimeLeft(task);
  const place = `,
    replace: `  const place = `,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'the cluster is asked for a dry run without a look at the lease',
    file: 'apps/scheduler/src/provisioning/start-pod.ts',
    find: `  requireTimeLeft(task);
  // One after the other`,
    replace: `  // One after the other`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'a refused installation is looked up without a look at the lease',
    file: 'apps/scheduler/src/provisioning/after-github-failure.ts',
    find: `  requireTimeLeft(task);
  const state`,
    replace: `  const state`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'the Secret is put without a look at the lease',
    file: 'apps/scheduler/src/provisioning/start-pod.ts',
    find: `    requireTimeLeft(task);
    try {`,
    replace: `    try {`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'the lease is looked at before the first try of a Secret, and not before the next ones',
    file: 'apps/scheduler/src/provisioning/start-pod.ts',
    find: `    requireTimeLeft(task);
    try {`,
    replace: `    if (tries === 0) requireTimeLeft(task);
    try {`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'the pod is made without a look at the lease',
    file: 'apps/scheduler/src/provisioning/start-pod.ts',
    find: `  requireTimeLeft(run.task);
  if (!isWanted) {`,
    replace: `  if (!isWanted) {`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'a Secret of a row that has ended is deleted without a look at the lease',
    file: 'apps/scheduler/src/provisioning/start-pod.ts',
    find: `  requireTimeLeft(run.task);
  if (!isWanted) {`,
    replace: `  if (isWanted) requireTimeLeft(run.task);
  if (!isWanted) {`,
    tests: ['apps/scheduler/src/provisioning/provision-worker.db.test.ts'],
  },
  {
    mutant: 'the Secret gets its owner without a look at the lease',
    file: 'apps/scheduler/src/provisioning/start-pod.ts',
    find: `  requireTimeLeft(task);
  const secret`,
    replace: `  const secret`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'a runner is registered although the lease has run out over the mark',
    file: 'apps/scheduler/src/provisioning/register-runner.ts',
    find: `if (!hasTimeLeft(task)) {`,
    replace: `if (isWatched && !hasTimeLeft(task)) {`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'a run marks the registration of a row although another run has begun it',
    file: 'packages/db/src/workers/workers.ts',
    find: ` and stopping_at is null and registration_started_at is null
      and not exists`,
    replace: ` and stopping_at is null
      and not exists`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'a runner group for all repositories is made for private ones only',
    file: 'packages/domain/src/pools/runner-group.ts',
    find: `'all' : 'selected'`,
    replace: `'private' : 'selected'`,
    tests: ['apps/scheduler/src/provisioning/repository-scope.db.test.ts'],
  },
  {
    mutant: 'a worker that is being stopped counts as supply',
    file: 'packages/db/src/matching/demand.ts',
    find: `where \${UNASSIGNED} group`,
    replace: `where status in ('pending', 'running') and assigned_at is null group`,
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'a worker that is being stopped counts in no cap',
    file: 'packages/db/src/matching/read-snapshot.ts',
    find: `from workers where \${LIVE} group`,
    replace: `from workers where \${LIVE} and stopping_at is null group`,
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'an unexplained end stands against a waiting job for ever',
    file: 'packages/db/src/states/states.ts',
    find: `unexplained_until is not null and unexplained_until > now() and`,
    replace: `unexplained_until is not null and`,
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'matchers of several replicas do not wait for each other',
    file: 'apps/scheduler/src/matching/match.ts',
    find: `await lockMatching(trx, limits);`,
    replace: `void [lockMatching, limits];`,
    tests: ['apps/scheduler/src/matching/match.db.test.ts'],
  },
  {
    mutant: 'a place that is given back is free only in the next pass',
    file: 'packages/domain/src/matching/plan-pass.ts',
    find: `afterGivingBack(served, unwanted)`,
    replace: `served`,
    tests: ['packages/domain/src/matching/plan-pass.test.ts'],
  },
  {
    mutant: 'warm workers may use the part of a cap that jobs use',
    file: 'packages/domain/src/matching/plan-pass.ts',
    find: `afterMaking(freed, make)`,
    replace: `freed`,
    tests: ['packages/domain/src/matching/plan-pass.test.ts'],
  },
  {
    mutant: 'a reservation that is being registered is planned for again in each pass',
    file: 'packages/domain/src/matching/plan-pass.ts',
    find: `reservations: snapshot.reservations.filter(isFree),`,
    replace: ``,
    tests: ['packages/domain/src/matching/plan-pass.test.ts'],
  },
  {
    mutant: 'a worker without a pod that is taken back into supply is not provisioned again',
    file: 'apps/scheduler/src/matching/match.ts',
    find: `...[...reserved, ...takenBack.filter(({ hasPod }) => !hasPod)].map(provisionTask)`,
    replace: `...reserved.map(provisionTask)`,
    tests: ['apps/scheduler/src/provisioning/lost-tasks-and-secrets.db.test.ts'],
  },
  {
    mutant: 'a worker is taken back into supply although its deregistration has begun',
    file: 'packages/db/src/states/states.ts',
    find: `  and deregistration_started_at is null
`,
    replace: ``,
    tests: ['apps/scheduler/src/matching/match-warm.db.test.ts'],
  },
  {
    mutant: 'a worker that runs a job is stopped as surplus',
    file: 'packages/db/src/states/states.ts',
    find: `\${UNASSIGNED} and (registered_at`,
    replace: `\${LIVE} and stopping_at is null and (registered_at`,
    tests: ['apps/scheduler/src/matching/match-warm.db.test.ts'],
  },
  {
    mutant: 'a reservation is given back although its registration has just begun',
    file: 'packages/db/src/matching/matching-lock.ts',
    find: `any(\${giveBack}::text[]) and \${RESERVED})`,
    replace: `any(\${giveBack}::text[]))`,
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'workers are reserved for the youngest jobs first',
    file: 'packages/db/src/matching/reserve-workers.ts',
    find: `order by created_at, job_id limit wanted.count`,
    replace: `order by created_at desc, job_id limit wanted.count`,
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'a job whose worker is being stopped gets no other',
    file: 'packages/db/src/matching/reserve-workers.ts',
    find: `and \${UNASSIGNED}
  )`,
    replace: `and status in ('pending', 'running') and assigned_at is null
  )`,
    tests: ['apps/scheduler/src/matching/match-demand.db.test.ts'],
  },
  {
    mutant: 'a worker that lost its task while it was to be stopped is provisioned',
    file: 'packages/db/src/workers/workers.ts',
    find: `
    .where('stopping_at', 'is', null)
    .where('created_at'`,
    replace: `
    .where('created_at'`,
    tests: ['apps/scheduler/src/provisioning/lost-tasks-and-secrets.db.test.ts'],
  },
  {
    mutant: 'the Secret of a worker that ends before its pod is left behind',
    file: 'apps/scheduler/src/provisioning/fail-worker.ts',
    find: `if (ended) await enqueue(trx, [removeSecretTask(podName)]);`,
    replace: `void [enqueue, removeSecretTask];`,
    tests: ['apps/scheduler/src/provisioning/stalled-run.db.test.ts'],
  },
  {
    mutant: 'a registration whose answer was lost is asked for again for the same row',
    file: 'apps/scheduler/src/provisioning/after-github-failure.ts',
    find: `||
    kind === 'unavailable' ||
    kind === 'timeout' ||
    kind === 'network' ||`,
    replace: ` ||`,
    tests: ['apps/scheduler/src/provisioning/provision-worker-faults.db.test.ts'],
  },
  {
    mutant: 'a row ends although its pod was seen meanwhile',
    file: 'packages/db/src/workers/workers.ts',
    find: `    .where('pod_uid', 'is', null)
    .executeTakeFirst`,
    replace: `    .executeTakeFirst`,
    tests: ['apps/scheduler/src/provisioning/provision-worker.db.test.ts'],
  },
  {
    mutant: 'a worker that is to be stopped is registered',
    file: 'packages/db/src/workers/workers.ts',
    find: `and status = 'pending' and stopping_at is null and registration_started_at`,
    replace: `and status = 'pending' and registration_started_at`,
    tests: ['apps/scheduler/src/provisioning/claim-runs-out.db.test.ts'],
  },
  {
    mutant: 'the wait that the cluster asks for is ignored',
    file: 'apps/scheduler/src/provisioning/after-cluster-failure.ts',
    find: `const { message, retryAfterMs = passes(failure) ? 0 : REFUSED_MS } = failure;`,
    replace: `const { message } = failure;
  const retryAfterMs = passes(failure) ? 0 : REFUSED_MS;`,
    tests: ['apps/scheduler/src/provisioning/refused-pods.db.test.ts'],
  },
  {
    mutant: 'no dry run comes before a registration while the key fails',
    file: 'apps/scheduler/src/provisioning/provision-worker.ts',
    find: `if (worker.isWatched) await dryRun(parts, worker, pool, task);`,
    replace: `void dryRun;`,
    tests: ['apps/scheduler/src/provisioning/refused-pods.db.test.ts'],
  },
  {
    mutant: 'a worker whose JIT config is lost waits for ever',
    file: 'apps/scheduler/src/provisioning/provision-worker.ts',
    find: `if (worker.registrationStartedAt !== null) {`,
    replace: `if (worker.registrationStartedAt === undefined) {`,
    tests: ['apps/scheduler/src/provisioning/provision-worker.db.test.ts'],
  },
  {
    mutant: 'jobs that ingress judged by the former pools do not follow a change',
    file: 'apps/scheduler/src/pools/load-pools.ts',
    find: `reconsideredAt === undefined ||
      (reconsideredAt < LOOKS_UNTIL_ALL_FOLLOW && looks >= LOOKS_UNTIL_ALL_FOLLOW)`,
    replace: `reconsideredAt === undefined || LOOKS_UNTIL_ALL_FOLLOW < 0`,
    tests: ['apps/scheduler/src/pools/load-pools.db.test.ts'],
  },
  {
    mutant: 'a replica puts its own pools in force again after another replica’s',
    file: 'apps/scheduler/src/pools/load-pools.ts',
    find: `    toStore = undefined;
    const newest`,
    replace: `    const newest`,
    tests: ['apps/scheduler/src/pools/load-pools.db.test.ts'],
  },
];
