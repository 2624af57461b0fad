import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const registrations: readonly NamedMutant[] = [
  {
    mutant: 'a stray registration is removed although its runner is online now',
    file: 'apps/reconciler/src/workers/remove-stray-registrations.ts',
    find: `if (!isUnused(runnerSays(runner))) return 'left';`,
    replace: `if (runnerSays(runner) === 'busy') return 'left';`,
    tests: ['apps/reconciler/src/workers/remove-stray-registrations.db.test.ts'],
  },
  {
    mutant: 'a stray registration is removed although a new worker has its name',
    file: 'apps/reconciler/src/workers/remove-stray-registrations.ts',
    find: `if ((await findNamesWithoutWorker(db, [name])).length === 0) return 'left';
`,
    replace: ``,
    tests: ['apps/reconciler/src/workers/remove-stray-registrations.db.test.ts'],
  },
  {
    mutant: 'a stray registration is removed although a pod has its name',
    file: 'apps/reconciler/src/workers/remove-stray-registrations.ts',
    find: `if ((await findPod(cluster, { namespace, name })) !== undefined) return 'left';`,
    replace: `void [findPod, namespace];`,
    tests: ['apps/reconciler/src/workers/remove-stray-secrets.db.test.ts'],
  },
  {
    mutant: 'a list without any of our runners is trusted',
    file: 'apps/reconciler/src/workers/remove-stray-registrations.ts',
    find: `  if (listable > 0) {`,
    replace: `  if (listable > 1_000) {`,
    tests: ['apps/reconciler/src/workers/remove-stray-registrations.db.test.ts'],
  },
  {
    mutant: 'a stray registration is removed when it is first seen',
    file: 'packages/db/src/workers/stray-registrations.ts',
    find: `first_seen_at < now() - \${milliseconds(graceMs)} as "isDue"`,
    replace: `\${milliseconds(graceMs)} >= '0' as "isDue"`,
    tests: ['apps/reconciler/src/workers/remove-stray-registrations.db.test.ts'],
  },
  {
    mutant: 'a stray that went and came back counts as seen all the time',
    file: 'packages/db/src/workers/stray-registrations.ts',
    find: `and runner_id <> all(\${ids}::bigint[])\``,
    replace: `and runner_id = any(\${ids}::bigint[]) and false\``,
    tests: ['apps/reconciler/src/workers/remove-stray-registrations.db.test.ts'],
  },
  {
    mutant: 'a failed worker’s registration is removed although its runner is online',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `if (!isUnused(runnerSays(runner)))
    return`,
    replace: `if (!isUnused(runnerSays(runner)) && !runner.online)
    return`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'a runner that an empty list lacks counts as gone',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `runnerId === null && !(await isTrusted(client, scope)))`,
    replace: `runnerId === null && !isTrusted)`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'the registration of a worker that ended a moment ago is removed',
    file: 'packages/db/src/workers/registrations.ts',
    find: `
      and w.completed_at < now() - \${milliseconds(graceMs)}`,
    replace: `
      and \${graceMs}::float8 >= 0`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
];
