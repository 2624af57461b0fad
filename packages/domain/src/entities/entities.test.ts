import { describe, expect, test } from '@jest/globals';
import {
  type KnownInstallation,
  type ListedInstallation,
  compareInstallations,
} from './compare-installations.ts';
import { diagnoseEntity, type EntityFacts, type InstalledApp } from './diagnose-entity.ts';
import { type AppToCheck, findAppProblems } from './find-app-problems.ts';
import { refusedSubject, refusalReason } from './refused-subject.ts';

const AT = new Date('2026-01-31T09:00:00Z');
const APP: InstalledApp = {
  appId: 7,
  installationId: 70,
  selection: 'selected',
  suspendedAt: null,
  deletedAt: null,
  choice: 'selected',
};
const WELL: EntityFacts = {
  asked: { login: 'acme', repository: 'API' },
  entity: { id: 1, login: 'Acme' },
  installations: [APP],
  configuredApps: [7],
  ignored: [],
  authFailures: [],
  installationsSeen: [{ appId: 7, installationId: 70, lastAt: AT }],
  lastDeliveryAt: AT,
  isRepositorySeen: false,
  undelivered: null,
  waiting: [],
};
const app = (given: Partial<InstalledApp>) => ({ installations: [{ ...APP, ...given }] });
const ignoredAs = (outcome: string, lastJobId: number | null = 5) => ({
  ignored: [{ outcome, count: 3, since: AT, lastAt: AT, lastJobId }],
});
const waitingFor = (reason: string) => ({
  waiting: [{ pool: 'linux', waiting: 4, reason, since: AT, jobId: 6 }],
});
const seen = (...ids: [number, number][]) => ({
  installationsSeen: ids.map(([appId, installationId]) => ({ appId, installationId, lastAt: AT })),
});
const refused = (appId: number, isNotFound = true) => ({
  authFailures: [{ appId, count: 2, since: AT, isNotFound }],
});
const anotherApp = (given: Partial<InstalledApp> = {}) => ({
  installations: [APP, { ...APP, appId: 8, installationId: 80, ...given }],
});
const called = (login: string | null) => ({ entity: { id: 1, login } });

/** Who can act, where it is not the platform team. */
const ACTORS: Readonly<Partial<Record<string, string>>> = {
  reinstalled: 'wait',
  no_fitting_labels: 'author',
  at_cap: 'wait',
};

describe('the diagnoses of an entity (G3)', () => {
  test.each<[string, Partial<EntityFacts>, string | undefined]>([
    ['where all is well', {}, undefined],
    ['without the App', { installations: [], entity: null, lastDeliveryAt: null }, 'not_installed'],
    ['after its removal', app({ deletedAt: AT }), 'not_installed'],
    ['under suspension', app({ suspendedAt: AT }), 'suspended'],
    ['with another App than the configured one', { configuredApps: [8, 9] }, 'wrong_app'],
    ['where no scheduler has stored its Apps', { configuredApps: null }, undefined],
    ['with the configured App and another', anotherApp(), undefined],
    [
      'of which another App was suspended and removed',
      { ...anotherApp({ suspendedAt: AT, deletedAt: AT }), ...seen([8, 79], [7, 70]) },
      undefined,
    ],
    ['under an unknown login', called(null), undefined],
    ['of a repository never selected', app({ choice: 'never' }), 'repository_not_selected'],
    ['of one no longer selected', app({ choice: 'removed' }), 'repository_not_selected'],
    [
      'of an account',
      { asked: { login: 'acme', repository: null }, ...app({ choice: null }) },
      undefined,
    ],
    ['with all repositories', app({ choice: 'unknown', selection: 'all' }), undefined],
    ['of an unknown beginning', app({ choice: 'unknown' }), 'repository_maybe_not_selected'],
    [
      'of an unknown beginning, of a repository with deliveries',
      { ...app({ choice: 'unknown' }), isRepositorySeen: true },
      undefined,
    ],
    ['under a former login', called('acme-new'), 'renamed'],
    ['by its id', { ...called('acme-new'), asked: { login: '1', repository: null } }, undefined],
    ['after a reinstallation', seen([7, 70], [7, 69]), 'reinstalled'],
    ['with a former installation of another App', seen([8, 69]), undefined],
    ['whose App is refused', refused(7), 'refused'],
    ['whose App is refused beside another', { ...anotherApp(), ...refused(7, false) }, 'refused'],
    ['that another App tries', refused(8), 'wrong_app'],
    ['with lost deliveries', { undelivered: { count: 5, since: AT } }, 'not_delivered'],
    ['without any delivery', { lastDeliveryAt: null }, 'not_delivered'],
    ['with labels that no pool has', ignoredAs('ignored_no_label'), 'no_fitting_labels'],
    ['that is not allowed', ignoredAs('ignored_entity'), 'entity_not_allowed'],
    ['that no pool serves', ignoredAs('ignored_pool_closed'), 'pool_closed'],
    ['with a public repository', ignoredAs('ignored_public_repository'), 'public_repository'],
    ['whose login is another’s', ignoredAs('refused_entity'), 'login_pinned'],
    ['with a hidden repository', ignoredAs('repository_hidden'), 'repository_hidden'],
    ['whose deliveries say nothing bad', ignoredAs('ok'), undefined],
    ['at the cap of the pool', waitingFor('at_pool_cap'), 'at_cap'],
    ['at its own cap', waitingFor('at_entity_cap'), 'at_cap'],
    ['at the common cap', waitingFor('at_common_cap'), 'at_cap'],
    ['at the cap of a repository', waitingFor('at_repository_cap'), 'at_cap'],
    ['that waits for a suspended App', waitingFor('installation_suspended'), 'suspended'],
    ['that waits for an App', waitingFor('installation_gone'), 'not_installed'],
    ['that waits for a configured App', waitingFor('app_not_configured'), 'wrong_app'],
    ['without capacity', waitingFor('no_capacity'), 'no_capacity'],
    ['of a paused pool', waitingFor('pool_paused'), 'pool_paused'],
    ['with a reason of a newer version', waitingFor('of_tomorrow'), 'of_tomorrow'],
  ])('%s', (_what, given, name) => {
    const found = diagnoseEntity({ ...WELL, ...given });
    expect(found.map((one) => one.name)).toStrictEqual(name === undefined ? [] : [name]);
    for (const { actor, sentence, advice } of found) {
      expect(actor).toBe(ACTORS[name ?? ''] ?? 'platform');
      expect(sentence).toMatch(/^[A-Z\d][^\n]*\.$/);
      expect(advice).toMatch(/\.$/);
    }
  });

  test.each<[string, Partial<EntityFacts>, object]>([
    [
      'ignored jobs',
      ignoredAs('ignored_no_label'),
      {
        sentence:
          '3 of the newest deliveries made no worker, the last at 2026-01-31T09:00:00Z: no pool has all of the job’s labels.',
        since: AT,
        advice:
          '`paddock why 5` explains the last one. Where other runners serve them, nothing is wrong.',
      },
    ],
    [
      'waiting jobs',
      waitingFor('at_pool_cap'),
      {
        sentence:
          '4 jobs wait for the pool linux: the pool has as many workers as its maxWorkers allows.',
        since: AT,
        advice: '`paddock why 6` explains the one that waits longest.',
      },
    ],
    [
      'jobs with a reason of a newer version',
      waitingFor('of_tomorrow'),
      { sentence: '4 jobs wait for the pool linux: of_tomorrow.' },
    ],
    [
      'jobs that no pool fits any more',
      waitingFor('no_pool_fits'),
      { name: 'no_fitting_labels', actor: 'platform' },
    ],
    ['no job', ignoredAs('refused_entity', null), { advice: 'See its trace.' }],
    ['an App that was never there', { installations: [] }, { since: null }],
    [
      'the last removal',
      {
        installations: [
          { ...APP, deletedAt: new Date(0) },
          { ...APP, appId: 8, deletedAt: AT },
        ],
      },
      { since: AT },
    ],
    [
      'refusals',
      refused(7),
      {
        sentence: 'In the last day GitHub refused the App 7 2 times: it knew no such installation.',
        since: AT,
      },
    ],
    [
      'a configuration without an App',
      { configuredApps: [] },
      { sentence: 'Paddock is configured for no App, and Acme has only the App 7.' },
    ],
    [
      'another App',
      { configuredApps: [8, 9] },
      {
        sentence: 'Paddock is configured for the Apps 8, 9, and Acme has only the App 7.',
        since: null,
      },
    ],
    [
      'lost deliveries',
      { undelivered: { count: 1, since: AT } },
      { sentence: expect.stringContaining(' 1 event of Acme,'), since: AT },
    ],
  ])('say since when, with their numbers, of %s', (_what, given, expected) => {
    expect(diagnoseEntity({ ...WELL, ...given })).toEqual([expect.objectContaining(expected)]);
  });
});

const listed: ListedInstallation = {
  installationId: 7,
  entityId: 1,
  login: 'acme',
  selection: 'all',
  isSuspended: false,
};
const known: KnownInstallation = { ...listed, isDeleted: false };

describe('compareInstallations (A12)', () => {
  test.each<[string, Partial<ListedInstallation>, Partial<KnownInstallation> | undefined, boolean]>(
    [
      ['as we know it', {}, {}, false],
      ['unknown', {}, undefined, true],
      ['renamed', { login: 'acme-inc' }, {}, true],
      ['suspended', { isSuspended: true }, {}, true],
      ['given other repositories', { selection: 'selected' }, {}, true],
      ['with an unknown selection', {}, { selection: null }, true],
      ['installed again', { installationId: 8 }, {}, true],
      ['installed again after a deletion', { installationId: 8 }, { isDeleted: true }, true],
      ['so, with a lower id', { installationId: 6 }, { isDeleted: true }, true],
      ['there after all', {}, { isDeleted: true }, true],
      ['replaced since it was listed', {}, { installationId: 8, login: 'other' }, false],
    ],
  )('%s', (_name, says, row, isNews) => {
    const { changed } = compareInstallations(
      [{ ...listed, ...says }],
      row === undefined ? [] : [{ ...known, ...row }],
    );
    expect(changed).toHaveLength(isNews ? 1 : 0);
  });

  test('an installation that is not listed is to be asked about, unless we know that it is gone', () => {
    const rows = [
      known,
      { ...known, entityId: 2, installationId: 9 },
      { ...known, entityId: 3, installationId: 10, isDeleted: true },
    ];
    expect(compareInstallations([listed], rows).unlisted).toEqual([rows[1]]);
  });
});

const well: AppToCheck = {
  permissions: {
    actions: 'read',
    administration: 'write',
    organization_self_hosted_runners: 'write',
    metadata: 'read',
  },
  events: ['workflow_job', 'push'],
  onOrganizations: true,
  onUsers: true,
  atRepositories: false,
};
/** What a row of the table says of the App, beside the permissions that it lacks. */
const SCOPES: Readonly<Record<string, Partial<AppToCheck>>> = {
  'no organisation': { onOrganizations: false },
  'no user': { onUsers: false },
  'pools at repositories': { atRepositories: true },
  'no subscription': { events: ['push'] },
};
const RUNNERS = 'organization_self_hosted_runners';
const AT_REPOSITORIES = 'without which no runner of a pool with `registration: repository`';

describe('findAppProblems (H4)', () => {
  test.each([
    ['', []],
    ['no subscription', ['workflow_job']],
    ['no actions', ['actions: read']],
    [`no ${RUNNERS}`, [`${RUNNERS}: write`]],
    [`no ${RUNNERS}, no organisation`, []],
    ['no administration', ['administration: write']],
    ['no administration, no user', []],
    [
      'no administration, no user, pools at repositories',
      [`administration: write, ${AT_REPOSITORIES}`],
    ],
    ['no user, pools at repositories', []],
    ['no administration, no organisation, no user, pools at repositories', []],
    [
      `no subscription, no actions, no ${RUNNERS}, no administration`,
      ['workflow_job', 'actions', RUNNERS, 'administration'],
    ],
  ])('%s', (words, problems) => {
    const given = { ...well, permissions: { ...well.permissions } };
    for (const word of words.split(', '))
      if (SCOPES[word]) Object.assign(given, SCOPES[word]);
      else Object.assign(given.permissions, { [word.replace('no ', '')]: 'none' });
    expect(findAppProblems(given)).toEqual(
      problems.map((problem) => expect.stringContaining(problem)),
    );
  });

  test('lacks what may be read only, or is not there, and not what may be written', () => {
    const permissions = { actions: 'write', administration: 'read' };
    expect(findAppProblems({ ...well, permissions })).toEqual([
      expect.stringContaining(RUNNERS),
      expect.stringContaining('administration'),
    ]);
  });
});

test.each([
  ['unauthorized', 'POST /app/installations/5/access_tokens', 'app'],
  ['unauthorized', 'GET /app', 'app'],
  ['not_found', 'POST /app/installations/5/access_tokens', 'entity'],
  ['forbidden', 'POST /api/v3/app/installations/5/access_tokens', 'entity'],
  ['not_found', 'GET /app/installations/5', undefined],
  ['forbidden', 'GET /app/hook/deliveries', undefined],
  ['unauthorized', 'GET /repos/acme/api/actions/runs', 'entity'],
  ['forbidden', 'GET /repos/acme/api/actions/runs', 'repository'],
  ['not_found', 'POST /repos/acme/api/actions/runners/generate-jitconfig', 'repository'],
  ['forbidden', 'GET /api/v3/repositories/7', 'repository'],
  ['forbidden', 'GET /orgs/acme/actions/runners', 'entity'],
  ['not_found', 'GET /orgs/repos/actions/runners', 'entity'],
  ['forbidden', 'GET /installation/repositories', 'entity'],
  ['rate_limited', 'GET /repos/acme/api/actions/runs', undefined],
  ['outdated', 'GET /repos/acme/api/actions/runs', undefined],
  ['unavailable', 'POST /app/installations/5/access_tokens', undefined],
  ['unknown', 'unknown', undefined],
] as const)('%s of %s speaks of %s (C9)', (kind, operation, subject) => {
  expect(refusedSubject({ kind, operation })).toBe(subject);
});

test.each([
  ['not_found', 'POST /repos/acme/api/actions/runners/generate-jitconfig', 'repository_gone'],
  ['forbidden', 'GET /api/v3/repositories/7', 'repository_refused'],
  ['not_found', 'POST /app/installations/5/access_tokens', 'installation_gone'],
  // A person has deleted the runner group.
  ['not_found', 'POST /orgs/acme/actions/runners/generate-jitconfig', 'installation_refused'],
  ['forbidden', 'POST /app/installations/5/access_tokens', 'installation_refused'],
  ['unauthorized', 'GET /app', 'installation_refused'],
] as const)('%s of %s lets jobs wait with the reason %s (P5)', (kind, operation, reason) => {
  const subject = refusedSubject({ kind, operation }) ?? 'app';
  expect(refusalReason(subject, { kind, operation })).toBe(reason);
});
