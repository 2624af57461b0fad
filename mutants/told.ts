import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

/** Promises about what GitHub has told us: waits, budgets, refusals. */
export const told: readonly NamedMutant[] = [
  {
    mutant: 'the budget of the answer that arrives last counts',
    file: 'packages/db/src/entities/waits.ts',
    find: '= registrations_reset_at and ${remaining} < registrations_left)',
    replace: '= registrations_reset_at)',
    tests: ['apps/scheduler/src/matching/match-told.db.test.ts'],
  },
  {
    mutant: 'a shorter wait for GitHub replaces a longer one',
    file: 'packages/db/src/entities/waits.ts',
    find: ' and coalesce(${known} < ${until}, true)',
    replace: '',
    tests: ['packages/db/src/entities/waits.db.test.ts'],
  },
  {
    mutant: 'a new refusal extends the pause of the one before',
    file: 'packages/db/src/entities/refusals.ts',
    find: 'case when t.refused_until > now() then t.refused_until',
    replace: 'case when false then t.refused_until',
    tests: ['packages/db/src/entities/refusals.db.test.ts'],
  },
  {
    mutant: 'a refusal outlives the news that end it',
    file: 'packages/db/src/entities/installations.ts',
    find: `        stated_at = greatest(e.stated_at, excluded.stated_at),
        updated_at = now()`,
    replace: '        stated_at = greatest(e.stated_at, excluded.stated_at)',
    tests: ['apps/ingress/src/news.db.test.ts'],
  },
  {
    mutant: 'repositories that the App is given end no refusal where GitHub states nothing newer',
    file: 'packages/db/src/deliveries/record-deliveries.ts',
    find: 'known?.isKnown !== true || (known.isRepeated && known.leavesRow)',
    replace: 'known?.isRepeated === true && known.leavesRow',
    tests: ['apps/ingress/src/news.db.test.ts'],
  },
  {
    mutant: 'a refusal of one installation is taken for one of that which replaced it',
    file: 'packages/db/src/entities/refusals.ts',
    find: ' and installation_id = ${installationId}`',
    replace: '`',
    tests: ['packages/db/src/entities/refusals.db.test.ts'],
  },
  {
    mutant: 'an entity is refused as a whole although another App works there',
    file: 'packages/db/src/entities/told.ts',
    find: 'order by is_refused, ',
    replace: 'order by ',
    tests: ['packages/db/src/entities/refusals.db.test.ts'],
  },
  {
    mutant: 'reservations of an entity that GitHub refuses are kept',
    file: 'packages/domain/src/matching/matching-rules.ts',
    find: '?? told.find((guard) => guard?.isPaused)?.reason',
    replace: '?? (told, undefined)',
    tests: ['apps/scheduler/src/matching/match-told.db.test.ts'],
  },
  {
    mutant: 'a second worker tries a refused entity while the first one registers',
    file: 'packages/domain/src/matching/matching-rules.ts',
    find: 'told.isPaused || told.isTried ? 0 : 1',
    replace: 'told.isPaused ? 0 : 1',
    tests: ['apps/scheduler/src/matching/match-told.db.test.ts'],
  },
  {
    mutant: 'the end of a suspension that arrives first is forgotten with the suspension',
    file: 'packages/domain/src/deliveries/installation-event.ts',
    find: "action === 'unsuspend' ? justAfter(installation.updated_at) : installation.updated_at",
    replace: 'installation.updated_at',
    tests: ['apps/ingress/src/news.db.test.ts'],
  },
];
