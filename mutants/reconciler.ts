import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const reconciler: readonly NamedMutant[] = [
  {
    mutant: 'an answer of GitHub is written to a job that has changed since it was read',
    file: 'packages/db/src/jobs/note-look-ups.ts',
    find: ` where j.revision = given.revision order by`,
    replace: ` order by`,
    tests: ['apps/reconciler/src/jobs/look-up-jobs.db.test.ts'],
  },
  {
    mutant: 'a stuck job is recovered or failed although it has changed since it was read',
    file: 'packages/db/src/jobs/stuck-jobs.ts',
    find: `
    where j.revision = given.revision order by`,
    replace: `
    order by`,
    tests: ['apps/reconciler/src/jobs/recover-jobs.db.test.ts'],
  },
  {
    mutant: 'a redeliver-since that redelivery enqueues has as few attempts as a sweep',
    file: 'apps/reconciler/src/schedules/sweep-schedules.ts',
    find: `...(cursor === undefined ? {} : { cursor }) },
`,
    replace: `...(cursor === undefined ? {} : { cursor }) },
  maxAttempts: SWEEP_ATTEMPTS,
`,
    tests: ['test/src/kinds.test.ts'],
  },
  {
    mutant: 'a job counts as gone when GitHub does not show its repository',
    file: 'apps/reconciler/src/jobs/ask-run.ts',
    find: `if (repository === undefined) return { kind: 'invisible' };`,
    replace: `if (repository === undefined) return { kind: 'gone' };`,
    tests: ['apps/reconciler/src/jobs/look-up-jobs.db.test.ts'],
  },
  {
    mutant: 'a worker’s grace ends before GitHub has answered for all its jobs',
    file: 'packages/db/src/jobs/jobs-to-look-up.ts',
    find: `) oldest where \${isUnanswered} or seen_gone_at is not null)`,
    replace: `) oldest where seen_gone_at is not null)`,
    tests: ['apps/reconciler/src/jobs/unexplained-ends.db.test.ts'],
  },
  {
    mutant: 'an answer from before a worker’s end ends its grace',
    file: 'packages/db/src/jobs/jobs-to-look-up.ts',
    find: `(looked_up_at is null or looked_up_at < ends.told_at)`,
    replace: `(looked_up_at is null)`,
    tests: ['apps/reconciler/src/jobs/unexplained-ends.db.test.ts'],
  },
  {
    mutant: 'jobs for which GitHub does not answer block all others',
    file: 'apps/reconciler/src/jobs/look-up-jobs.ts',
    find: `await postponeLookUps(db, unanswered, retryMs);`,
    replace: `void [postponeLookUps, unanswered, retryMs];`,
    tests: [
      'apps/reconciler/src/jobs/look-up-failures.db.test.ts',
      'apps/reconciler/src/jobs/failed-jobs.db.test.ts',
    ],
  },
  {
    mutant: 'a job fails without a look-up while its worker has not ended',
    file: 'packages/db/src/jobs/stuck-jobs.ts',
    find: `and (c.doubt = 'worker_ended' or coalesce`,
    replace: `and (c.doubt = 'unserved' or coalesce`,
    tests: ['apps/reconciler/src/jobs/recover-jobs.db.test.ts'],
  },
  {
    mutant: 'a job fails without a look-up although GitHub has answered since',
    file: 'packages/db/src/jobs/stuck-jobs.ts',
    find: `and \${isUnanswered} and j.unanswered_since`,
    replace: `and j.unanswered_since`,
    tests: ['apps/reconciler/src/jobs/recover-jobs.db.test.ts'],
  },
  {
    mutant: 'a job beside a live worker counts as stuck',
    file: 'packages/db/src/jobs/stuck-jobs.ts',
    find: `waiting > 0 and not held and not served and`,
    replace: `waiting > 0 and not held and`,
    tests: ['apps/reconciler/src/jobs/recover-jobs.db.test.ts'],
  },
  {
    mutant: 'a pod that runs is deleted because its row has ended',
    file: 'apps/reconciler/src/workers/delete-ended-pods.ts',
    find: `    if (!isOver && hasStarted(there)) {`,
    replace: `    if (!isOver && hasStarted(there) && dryRun) {`,
    tests: ['apps/reconciler/src/workers/delete-ended-pods.db.test.ts'],
  },
  {
    mutant: 'a pod that never started is deleted although it has changed since the look',
    file: 'apps/reconciler/src/workers/delete-ended-pods.ts',
    find: `const seen = isOver ? {} : { resourceVersion: there.resourceVersion };`,
    replace: `const seen = {};`,
    tests: ['apps/reconciler/src/workers/delete-ended-pods.db.test.ts'],
  },
  {
    mutant: 'a new pod with the name of an ended one is deleted',
    file: 'apps/reconciler/src/workers/delete-ended-pods.ts',
    find: `if (there === undefined || (pod.podUid !== null && there.uid !== pod.podUid)) return 'absent';`,
    replace: `if (there === undefined) return 'absent';`,
    tests: ['apps/reconciler/src/workers/delete-ended-pods.db.test.ts'],
  },
  {
    mutant: 'an API server that is away gets a call for every ended pod',
    file: 'apps/reconciler/src/workers/delete-ended-pods.ts',
    find: `return isAway(failure) && !isFound ? 'away' : 'failed';`,
    replace: `return isAway(failure) && isFound ? 'away' : 'failed';`,
    tests: ['apps/reconciler/src/workers/delete-ended-pods.db.test.ts'],
  },
  {
    mutant: 'runners that a list lacks count as gone although the list has none of our runners',
    file: 'apps/reconciler/src/workers/read-runners.ts',
    find: `  if (answer.isComplete) return readings`,
    replace: `  if (answer.isComplete || registered > 0) return readings`,
    tests: ['apps/reconciler/src/workers/check-workers-guards.db.test.ts'],
  },
  {
    mutant: 'a pass asks to stop all overdue workers at once',
    file: 'apps/reconciler/src/workers/check-workers.ts',
    find: `inOrderOf(overdue, stops).slice(0, cap)`,
    replace: `inOrderOf(overdue, stops).slice(0, cap + 1_000)`,
    tests: [
      'apps/reconciler/src/workers/check-workers-guards.db.test.ts',
      'apps/reconciler/src/workers/check-workers.db.test.ts',
    ],
  },
  {
    mutant: 'a worker to which a job has just been bound is asked to stop',
    file: 'packages/db/src/workers/request-stops.ts',
    find: `
    and (w.assigned_at is null or (\${sql.ref(reason)} = 'over' and not \${RUNS_BOUND_JOB}))\``,
    replace: `
    and (w.assigned_at is null or \${sql.ref(reason)} <> '' or not \${RUNS_BOUND_JOB})\``,
    tests: ['packages/db/src/workers/stopping-workers.db.test.ts'],
  },
  {
    mutant: 'one scope with many overdue workers blocks the others',
    file: 'packages/db/src/workers/overdue-workers.ts',
    find: `order by row_number() over (partition by w.entity_id, w.scope_repo_id order by w.created_at, w.pod_name), w.created_at`,
    replace: `order by w.created_at`,
    tests: [
      'apps/reconciler/src/workers/check-workers-guards.db.test.ts',
      'apps/reconciler/src/workers/check-workers.db.test.ts',
    ],
  },
  {
    mutant: 'failed authentications are retired',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: ` or starts_with(event, 'auth_attempt.')`,
    replace: ``,
    tests: ['apps/reconciler/src/upkeep/retire-rows.db.test.ts'],
  },
  {
    mutant: 'the job of a live worker is retired',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: `where \${LIVE} and of.id is not null)`,
    replace: `where \${LIVE} and false and of.id is not null)`,
    tests: ['apps/reconciler/src/upkeep/retire-rows.db.test.ts'],
  },
  {
    mutant: 'a job of a run that goes on is retired',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: `
  and j.run_id not in (select run_id from jobs where \${isUnended('jobs')})\``,
    replace: `\``,
    tests: ['apps/reconciler/src/upkeep/retire-rows.db.test.ts'],
  },
  {
    mutant: 'newer events are retired with older ones of higher ids',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: `select id, is_kept from next where id < coalesce((select min(id) from next where not is_old), (select max(id) + 1 from next))`,
    replace: `select id, is_kept from next`,
    tests: ['apps/reconciler/src/upkeep/retire-rows.db.test.ts'],
  },
  {
    mutant: 'the repositories that were read last have their turn first',
    file: 'packages/db/src/jobs/repositories.ts',
    find: `order by r.due_at, r.repo_id limit`,
    replace: `order by r.due_at desc, r.repo_id limit`,
    tests: [
      'apps/reconciler/src/jobs/discovered-repositories.db.test.ts',
      'apps/reconciler/src/jobs/discover-resting.db.test.ts',
    ],
  },
  {
    mutant: 'a repository for which GitHub does not answer stays first in turn',
    file: 'apps/reconciler/src/jobs/discover-jobs.ts',
    find: `if (!dryRun) await postponeRepository(db, repository.repoId, turns);`,
    replace: `void postponeRepository;`,
    tests: ['apps/reconciler/src/jobs/discover-unanswered-runs.db.test.ts'],
  },
  {
    mutant: 'active repositories may use the whole budget before inactive ones',
    file: 'apps/reconciler/src/jobs/discover-jobs.ts',
    find: `for (const [index, repository] of [...resting, ...active].entries()) {
    if (signal.aborted) break;
    const isResting = index < resting.length;`,
    replace: `for (const [index, repository] of [...active, ...resting].entries()) {
    if (signal.aborted) break;
    const isResting = index >= active.length;`,
    tests: ['apps/reconciler/src/jobs/discover-resting.db.test.ts'],
  },
  {
    mutant: 'jobs that the former pools did not serve are not read again after a change',
    file: 'apps/reconciler/src/jobs/discover-repository.ts',
    find: `pools === version ? runs : runs.map(({ id }) => unreadRun(id))`,
    replace: `version >= 0 || pools === version ? runs : runs.map(({ id }) => unreadRun(id))`,
    tests: ['apps/reconciler/src/jobs/discovered-repositories.db.test.ts'],
  },
  {
    mutant: 'a run whose job could not be read counts as read',
    file: 'apps/reconciler/src/jobs/discover-repository.ts',
    find: `runs: found.runs.map((run) => (unread.has(run.id) ? unreadRun(run.id) : run)),`,
    replace: `runs: found.runs,`,
    tests: ['apps/reconciler/src/jobs/discover-known-runs.db.test.ts'],
  },
  {
    mutant: 'a refusal for one repository stops all calls for its entity',
    file: 'apps/reconciler/src/pass-failures.ts',
    find: `(subject === 'repository' && kind === 'not_found'))
        return undefined;
      if (ids[subject] !== 0) refused.add(\`\${subject} \${ids[subject]}\`);`,
    replace: `(subject === 'repository' && kind === 'not_found')) return undefined;
      refused.add(\`entity \${ids.entity}\`);`,
    tests: ['apps/reconciler/src/pass-failures.test.ts'],
  },
  {
    mutant: 'a second refusal extends the pause of the first',
    file: 'packages/db/src/breakers/refusals.ts',
    find: `message = excluded.message, failed_at = now()
      where b.paused_until <= now()\``,
    replace: `message = excluded.message, failed_at = now()\``,
    tests: ['packages/db/src/breakers/refusals.db.test.ts'],
  },
  {
    mutant: 'a trial that was reserved before the last failure never closes the breaker',
    file: 'packages/db/src/workers/worker-failures.ts',
    find: 'greatest(w.created_at, w.registration_started_at) > b.failed_at',
    replace: 'w.created_at > b.failed_at',
    tests: ['packages/db/src/workers/served-pools.db.test.ts'],
  },
  {
    mutant: 'a job on a worker that registered before the last failure closes the breaker',
    file: 'packages/db/src/workers/worker-failures.ts',
    find: 'greatest(w.created_at, w.registration_started_at) > b.failed_at',
    replace: 'w.registration_started_at is not null',
    tests: ['packages/db/src/workers/served-pools.db.test.ts'],
  },
];
