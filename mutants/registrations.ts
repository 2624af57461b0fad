import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

export const registrations: readonly NamedMutant[] = [
  {
    mutant: 'a registration is removed although its runner is online now',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `if (!isUnused(runnerSays(found.runner))) return 'left';`,
    replace: `if (runnerSays(found.runner) === 'busy') return 'left';`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'a registration is due although its runner is online',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `left.filter((runner) => isUnused(runnerSays(runner)))`,
    replace: `left.filter((runner) => isUnused(runnerSays(runner)) || runner.online)`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'a registration is removed although a new worker has its name',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `  if ((await findWorkersByName(db, [name])).get(name)?.isLive === true) return 'left';
`,
    replace: ``,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'a registration is removed although a pod of its name may run',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `if (says !== 'absent' && says !== 'ended') return 'left';`,
    replace: `void says;`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'a list without any of our runners is trusted',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `ours.length > 0 || registered.length === 0;`,
    replace: `ours.length > 0 || registered.length < 1_000;`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant:
      'lists without any of our runners are trusted after an hour, though GitHub knows one by its id',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `isBelieved || (byId && (await areAllGone(client, scope, registered)));`,
    replace: `isBelieved || byId;`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant:
      'lists without any of our runners are never trusted, though GitHub knows none by its id',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `const isComplete = isBelieved || (byId &&`,
    replace: `const isComplete = isBelieved || (byId && registered.length === 0 &&`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'registrations that no row names are removed although there are more than their cap',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: `worker !== undefined || counts.overCap === 0`,
    replace: `worker !== undefined || counts.overCap >= 0`,
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'a registration is removed a moment after it is first seen',
    file: 'apps/reconciler/src/workers/remove-registrations.ts',
    find: '(unusedForMs.get(name) ?? -1) >= graceMs',
    replace: 'unusedForMs.has(name)',
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
  {
    mutant: 'a registration that went and came back counts as left all the time',
    file: 'apps/reconciler/src/passes/pass.ts',
    find: 'names.map((name) => [name, since(name)])',
    replace: '[...Object.keys(known), ...names].map((name) => [name, since(name)])',
    tests: ['apps/reconciler/src/workers/remove-registrations.db.test.ts'],
  },
];
