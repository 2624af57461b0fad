import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const reconciler: readonly NamedMutant[] = [
  {
    mutant: 'a lease of a wrong clock holds for a year',
    file: 'packages/db/src/leases/leases.ts',
    find: ' or ${isTooFarAhead(sql`held.expires_at`, LEASE)}',
    replace: '',
    tests: ['packages/queue/src/wrong-clock.db.test.ts'],
  },
  {
    mutant: 'a tick of a wrong clock holds for a year',
    file: 'packages/db/src/schedules/schedules.ts',
    find: ' or ${isTooFarAhead(sql`known.last_tick_at`)}',
    replace: '',
    tests: ['packages/queue/src/wrong-clock.db.test.ts'],
  },
  {
    mutant: 'a claim of a wrong clock holds for a year',
    file: 'packages/queue/src/claim-tasks.ts',
    find: ' or ${isTooFarAhead(sql`tasks.locked_until`, LEASE)}',
    replace: '',
    tests: ['packages/queue/src/wrong-clock.db.test.ts'],
  },
  {
    mutant: 'a clock that is behind makes all instants void',
    file: 'packages/db/src/instants.ts',
    find: 'now() between ${ours}::timestamptz - interval ${sql.lit(SLACK)} and',
    replace: 'now() <',
    tests: ['packages/db/src/instants.db.test.ts'],
  },
  {
    mutant: 'a process that took a tick of a wrong clock takes none for a year',
    file: 'apps/reconciler/src/schedules/schedules.ts',
    find: 'if (taken.get(name) === tickAt.getTime()) return false;',
    replace: 'if ((taken.get(name) ?? 0) >= tickAt.getTime()) return false;',
    tests: ['apps/reconciler/src/schedules/schedules.db.test.ts'],
  },
  {
    mutant: 'an answer of GitHub is written to a job that has changed since it was read',
    file: 'packages/db/src/jobs/look-ups.ts',
    find: ` where j.revision = given.revision order by`,
    replace: ` order by`,
    tests: ['apps/reconciler/src/jobs/look-up-jobs.db.test.ts'],
  },
  {
    mutant: 'a stuck job is recovered or failed although it has changed since it was read',
    file: 'packages/db/src/jobs/jobs-in-doubt.ts',
    find: `
      where j.revision = judged.revision order by`,
    replace: `
      order by`,
    tests: ['apps/reconciler/src/jobs/jobs-in-doubt.db.test.ts'],
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
    file: 'packages/db/src/jobs/jobs-in-doubt.ts',
    find: `) oldest where \${isUnsettled} or seen_gone_at is not null)`,
    replace: `) oldest where seen_gone_at is not null)`,
    tests: ['apps/reconciler/src/jobs/unexplained-ends.db.test.ts'],
  },
  {
    mutant: 'an answer from before a worker’s end ends its grace',
    file: 'packages/db/src/jobs/jobs-in-doubt.ts',
    find: `(looked_up_at is null or looked_up_at < ends.told_at)`,
    replace: `(looked_up_at is null)`,
    tests: ['apps/reconciler/src/jobs/unexplained-ends.db.test.ts'],
  },
  {
    mutant: 'jobs for which GitHub does not answer block all others',
    file: 'packages/db/src/jobs/look-ups.ts',
    find: 'sql`coalesce(lookup_due_at, now()) <= now()`',
    replace: 'sql`false`',
    tests: ['apps/reconciler/src/jobs/look-up-failures.db.test.ts'],
  },
  {
    mutant: 'a job fails without a look-up while its worker has not ended',
    file: 'packages/db/src/jobs/jobs-in-doubt.ts',
    find: `and (doubt = 'worker_ended' or coalesce`,
    replace: `and (doubt = 'unserved' or coalesce`,
    tests: ['apps/reconciler/src/jobs/jobs-in-doubt.db.test.ts'],
  },
  {
    mutant: 'a job fails without a look-up although GitHub has answered since',
    file: 'packages/db/src/jobs/jobs-in-doubt.ts',
    find: `and \${isUnanswered} and j.unanswered_since`,
    replace: `and j.unanswered_since`,
    tests: ['apps/reconciler/src/jobs/jobs-in-doubt.db.test.ts'],
  },
  {
    mutant: 'a job beside a live worker counts as stuck',
    file: 'packages/db/src/jobs/jobs-in-doubt.ts',
    find: `waiting > 0 and not held and not served)`,
    replace: `waiting > 0 and not held)`,
    tests: ['apps/reconciler/src/jobs/jobs-in-doubt.db.test.ts'],
  },
  {
    mutant: 'a pod that runs is deleted because its row has ended',
    file: 'apps/reconciler/src/workers/delete-ended-pods.ts',
    find: `    if (mayGo === 'no') {`,
    replace: `    if (mayGo === 'no' && dryRun) {`,
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
    find: `    if (isTransient(failure)) await isAway('cluster');
`,
    replace: ``,
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
    mutant:
      'check-workers never asks by id, although its lists have lacked all of ours for an hour',
    file: 'apps/reconciler/src/workers/read-runners.ts',
    find: `if (isComplete || !byId) return`,
    replace: `if (isComplete || !byId || listed !== undefined) return`,
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
    file: 'packages/db/src/workers/worker-stops.ts',
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
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'the job of a live worker is retired',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: `where \${LIVE} and of.id is not null)`,
    replace: `where \${LIVE} and false and of.id is not null)`,
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'a job of a run that goes on is retired',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: `
  and j.run_id not in (select run_id from jobs where \${isUnended('jobs')})\``,
    replace: `\``,
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'newer events are retired with older ones of higher ids',
    file: 'packages/db/src/deliveries/retire-rows.ts',
    find: `select id, is_kept from next where id < coalesce((select min(id) from next where not is_old), (select max(id) + 1 from next))`,
    replace: `select id, is_kept from next`,
    tests: ['apps/reconciler/src/upkeep/upkeep.db.test.ts'],
  },
  {
    mutant: 'the repositories that were read last have their turn first',
    file: 'packages/db/src/jobs/repositories.ts',
    find: `order by due_at, repo_id limit \${most})`,
    replace: `order by due_at desc, repo_id limit \${most})`,
    tests: ['apps/reconciler/src/jobs/discovered-repositories.db.test.ts'],
  },
  {
    mutant: 'a repository for which GitHub does not answer stays first in turn',
    file: 'apps/reconciler/src/jobs/discover-jobs.ts',
    find: `postpone: ({ repoId }) => postponeRepository(db, repoId, turns),`,
    replace: `postpone: () => Promise.resolve(void postponeRepository),`,
    tests: ['apps/reconciler/src/jobs/discover-jobs.db.test.ts'],
  },
  {
    mutant: 'active repositories may use the budget of inactive ones',
    file: 'apps/reconciler/src/jobs/discover-jobs.ts',
    find: `(isResting ? restingAllowanceOf : allowanceOf)(`,
    replace: `(isResting && !restingAllowanceOf ? restingAllowanceOf : allowanceOf)(`,
    tests: ['apps/reconciler/src/jobs/discovered-repositories.db.test.ts'],
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
    tests: ['apps/reconciler/src/jobs/discover-jobs.db.test.ts'],
  },
  {
    mutant: 'a refusal for one repository stops all calls for its entity',
    file: 'apps/reconciler/src/passes/ask-github.ts',
    find: `if (ids[subject] !== 0) refused.add(\`\${subject} \${ids[subject]}\`);`,
    replace: `refused.add(\`entity \${ids.entity}\`);`,
    tests: ['apps/reconciler/src/jobs/look-up-failures.db.test.ts'],
  },
  {
    mutant: 'an object that failed is asked about in every pass',
    file: 'apps/reconciler/src/passes/pass.ts',
    find: `FIRST_WAIT_MS * 2 ** times`,
    replace: `FIRST_WAIT_MS * times`,
    tests: ['apps/reconciler/src/passes/pass.db.test.ts'],
  },
  {
    mutant: 'the objects of one entity come before those of all others',
    file: 'apps/reconciler/src/passes/pass.ts',
    find: `(turns[turn] ??= []).push(object)`,
    replace: `(turns[Math.min(turn, 0)] ??= []).push(object)`,
    tests: ['apps/reconciler/src/passes/pass.db.test.ts'],
  },
  {
    mutant: 'an entity that a pass did not reach comes last again',
    file: 'apps/reconciler/src/passes/pass.ts',
    find: `(unreached[b] ?? 0) - (unreached[a] ?? 0)`,
    replace: `(unreached[a] ?? 0) - (unreached[b] ?? 0)`,
    tests: ['apps/reconciler/src/passes/pass.db.test.ts'],
  },
  {
    mutant: 'an outage is the fault of the object that was asked about',
    file: 'apps/reconciler/src/passes/pass.ts',
    find: `dryRun || endedBy === 'away' || signal.aborted) return;`,
    replace: `dryRun || signal.aborted) return;`,
    tests: ['apps/reconciler/src/passes/pass.db.test.ts'],
  },
  {
    mutant: 'a pass ends at the first object that fails, and begins there again',
    file: 'apps/reconciler/src/passes/pass.ts',
    find: `    const queue = inTurns(due, named, before);
    let next = 0;
    let failure: { readonly error: unknown } | undefined;
    const lane = async (most = Infinity): Promise<void> => {
      for (let made = 0; made < most; made++) {
        if (failure !== undefined || next >= queue.length || isOver()) return;
        const object = queue[next++] as (typeof queue)[number];
        left.delete(named(object));
        await visitOne(object, how).catch((error: unknown) => (failure ??= { error }));`,
    replace: `    const queue = due;
    let next = 0;
    let failure: { readonly error: unknown } | undefined;
    const lane = async (most = Infinity): Promise<void> => {
      for (let made = 0; made < most; made++) {
        if (failure !== undefined || next >= queue.length || isOver()) return;
        const object = queue[next++] as (typeof queue)[number];
        left.delete(named(object));
        if (!(await how.visit(object, { isUnasked: false, hasFailedLong: false }))) endedBy = 'time';`,
    tests: ['apps/reconciler/src/passes/pass.db.test.ts'],
  },
  {
    mutant: 'a list whose second page is empty ends there',
    file: 'packages/github/src/read-pages.ts',
    find: 'if (!mayLack && lacks(answer, found.size, most))',
    replace: 'if (!mayLack && found.size === 0 && lacks(answer, found.size, most))',
    tests: ['packages/github/src/runner-groups.test.ts'],
  },
];
