import { describe, expect, test } from '@jest/globals';
import { WAIT_REASONS } from '../matching/wait-reasons.ts';
import { factsWith, NOW, secondsAgo } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';
import type { CapFacts, FailingFacts, ToldFacts, WaitFacts } from './wait-facts.ts';

const UNTIL = new Date('2026-01-31T10:01:00Z');
const failing = (given: Partial<FailingFacts> = {}): Pick<WaitFacts, 'failing'> => ({
  failing: {
    failures: 3,
    since: secondsAgo(60),
    pausedUntil: UNTIL,
    message: 'The quota is used up.',
    ...given,
  },
});
const told = (
  reason: ToldFacts['reason'],
  given: Partial<ToldFacts> = {},
): Pick<WaitFacts, 'told'> => ({
  told: [{ reason, until: UNTIL, message: 'Resource not accessible.', ...given }],
});

const outage = (service: string, message: string): Pick<WaitFacts, 'outages'> => ({
  outages: [{ service, since: secondsAgo(60), message }],
});

const cap = (kind: CapFacts['kind'], name: string, used = 20): Pick<WaitFacts, 'caps'> => ({
  caps: [{ kind, name, used, limit: 20 }],
});

const FAILURES =
  ' (3 failures since 2026-01-31T09:59:00Z, one worker tries again at 2026-01-31T10:01:00Z): The quota is used up.';
const REFUSAL = ' (Paddock asks again at 2026-01-31T10:01:00Z): Resource not accessible.';
const CI = {
  name: 'ci',
  excess: null,
  visibility: 'private',
  workflows: null,
  lacksRepository: false,
};
const atRepository = { job: { scopeRepoId: 7 } };

/** Facts of each reason, and the sentence that they make. */
const CASES: readonly [string, Parameters<typeof factsWith>[0], string][] = [
  ['pool_unknown', {}, 'The pool linux is no longer in the configuration.'],
  [
    'no_pool_fits',
    { nearest: { pool: 'linux', missing: ['gpu', 'large'] } },
    'No pool serves the job now: the nearest, linux, lacks the labels gpu, large.',
  ],
  [
    'no_pool_fits',
    { nearest: { pool: 'linux', missing: [] } },
    'A change of the configuration left the job without a pool that serves it.',
  ],
  ['no_pool_fits', {}, 'A change of the configuration left the job without a pool that serves it.'],
  ['pool_closed', {}, 'The pool linux no longer serves acme.'],
  ['pool_closed', atRepository, 'The pool linux no longer serves acme/api.'],
  [
    'runner_group_open',
    {
      group: { ...CI, excess: 'The runner group ci lets in public repositories' },
    },
    'The runner group ci lets in public repositories, and the pool linux does not serve that.',
  ],
  [
    'runner_group_open',
    { group: CI },
    'The runner group of the pool linux let in more than the pool serves.',
  ],
  ['runner_group_open', {}, 'The runner group of the pool linux let in more than the pool serves.'],
  ['pool_paused', {}, 'The configuration has paused the pool linux.'],
  ['entity_not_allowed', {}, 'acme is not among the configured entities.'],
  ['making_stopped', {}, 'A person had stopped the making of workers, and the next pass goes on.'],
  [
    'github_unavailable',
    outage('github', 'GET /rate_limit: 503'),
    'GitHub has not answered since 2026-01-31T09:59:00Z: GET /rate_limit: 503.',
  ],
  [
    'github_unavailable',
    outage('default', 'no connection'),
    'GitHub did not answer, and does again: the next pass goes on.',
  ],
  [
    'cluster_unavailable',
    outage('default', ' No route to 10.0.0.1\n'),
    'The cluster has not answered since 2026-01-31T09:59:00Z: No route to 10.0.0.1.',
  ],
  [
    'workers_failing',
    failing(),
    `Workers for acme in the pool linux fail before they have a job${FAILURES}`,
  ],
  [
    'workers_failing',
    { ...atRepository, ...failing({ pausedUntil: NOW }) },
    'Workers for acme/api in the pool linux fail before they have a job (3 failures since 2026-01-31T09:59:00Z, one worker tries now): The quota is used up.',
  ],
  [
    'workers_failing',
    failing({ failures: 1, pausedUntil: null, message: ' no quota\n' }),
    'Workers for acme in the pool linux fail before they have a job (1 failure since 2026-01-31T09:59:00Z, one worker tries now): no quota.',
  ],
  ['workers_failing', {}, 'Workers for acme in the pool linux fail before they have a job.'],
  [
    'pool_suspected',
    {},
    'Workers of two other entities fail in the pool linux: one worker for acme starts first, and the rest follow once it runs.',
  ],
  [
    'installation_refused',
    told('installation_refused'),
    `GitHub refuses what the App asks for acme${REFUSAL}`,
  ],
  [
    'installation_refused',
    told('installation_refused', { until: NOW }),
    'GitHub refuses what the App asks for acme (one worker asks again now): Resource not accessible.',
  ],
  ['installation_refused', failing(), `GitHub refuses what the App asks for acme${FAILURES}`],
  [
    'installation_refused',
    told('repository_refused'),
    'GitHub refuses what the App asks for acme.',
  ],
  [
    'installation_suspended',
    { lostApp: { app: 1001, at: secondsAgo(60) } },
    'The App 1001 is suspended on acme since 2026-01-31T09:59:00Z.',
  ],
  ['app_not_configured', {}, 'No App of the configuration file is installed on acme.'],
  [
    'installation_gone',
    { lostApp: { app: 1001, at: secondsAgo(60) } },
    'The App 1001 is no longer installed on acme since 2026-01-31T09:59:00Z.',
  ],
  [
    'installation_gone',
    {},
    'No App that Paddock uses is installed on acme, and free to act there.',
  ],
  [
    'repository_gone',
    { ...atRepository, ...told('repository_gone') },
    `GitHub does not show the repository acme/api to the App${REFUSAL}`,
  ],
  [
    'repository_refused',
    { ...atRepository, ...told('repository_refused') },
    `GitHub refuses to register runners at acme/api${REFUSAL}`,
  ],
  [
    'runner_outdated',
    failing(),
    `GitHub no longer serves the runner version of the pool linux${FAILURES}`,
  ],
  [
    'github_budget',
    { budget: { remaining: 1, resetAt: new Date('2026-01-31T10:30:00Z') } },
    'GitHub allows 1 more registration of runners for acme until 2026-01-31T10:30:00Z, and those on their way use them.',
  ],
  [
    'github_budget',
    told('github_budget'),
    'GitHub has asked Paddock to make no runners for acme until 2026-01-31T10:01:00Z: Resource not accessible.',
  ],
  // The words of a refusal are not those of a wait.
  [
    'github_budget',
    told('installation_refused'),
    'The runners that were registered for acme in the last minute are as many as GitHub allows.',
  ],
  [
    'at_entity_cap',
    cap('at_entity_cap', 'maxWorkers of acme'),
    'maxWorkers of acme is 20, and 20 workers are there.',
  ],
  [
    'at_entity_cap',
    cap('at_entity_cap', 'maxWorkers of acme', 1),
    'maxWorkers of acme is 20, and 1 worker is there: the next pass gives out the rest.',
  ],
  ['at_entity_cap', {}, 'The last pass found no room under maxWorkers of acme.'],
  [
    'at_common_cap',
    cap('at_common_cap', "commonMaxWorkers of '*'"),
    "commonMaxWorkers of '*' is 20, and 20 workers are there.",
  ],
  ['at_common_cap', {}, "The last pass found no room under commonMaxWorkers of '*'."],
  [
    'no_capacity',
    { withoutNode: 2 },
    'No node takes 2 workers for acme in the pool linux; more follow when these find nodes or end.',
  ],
  [
    'at_pool_cap',
    cap('at_pool_cap', 'maxWorkers of the pool linux'),
    'maxWorkers of the pool linux is 20, and 20 workers are there.',
  ],
  // The numbers of another cap are not its own.
  [
    'at_pool_cap',
    cap('at_entity_cap', 'maxWorkers of acme'),
    'The last pass found no room under maxWorkers of the pool linux.',
  ],
  [
    'github_does_not_assign',
    failing(),
    `GitHub gives idle runners of the pool linux at acme no job${FAILURES}`,
  ],
  [
    'at_repository_cap',
    { ...atRepository, ...cap('at_repository_cap', 'maxWorkersPerRepository of the pool linux') },
    'maxWorkersPerRepository of the pool linux is 20, and 20 workers are there.',
  ],
  [
    'at_repository_cap',
    {},
    'The last pass found no room under maxWorkersPerRepository of the pool linux.',
  ],
  [
    'unexplained_ends',
    { unexplained: 1 },
    '1 runner that may have run the job ended without a known one: GitHub is asked which jobs still wait.',
  ],
  [
    'unexplained_ends',
    {},
    'Workers of this kind end without a known job: GitHub is asked which jobs still wait.',
  ],
];

describe('each reason to wait (P5)', () => {
  test.each(CASES)('%s %j is a sentence with its numbers', (reason, facts, sentence) => {
    const answer = explainWait(factsWith({ ...facts, reason }));
    expect(answer).toMatchObject({ state: 'waiting', reason, sentence, since: secondsAgo(120) });
    expect(answer.advice).toMatch(/^[A-Z].+\.$/);
  });

  test('has such a sentence', () => {
    expect(new Set(CASES.map(([reason]) => reason))).toEqual(new Set(Object.keys(WAIT_REASONS)));
  });

  test('that only time or more workers end is not called a fault', () => {
    const patient = Object.keys(WAIT_REASONS).filter(
      (reason) => explainWait(factsWith({ reason })).actor === 'wait',
    );
    expect(patient.toSorted()).toEqual([
      'at_common_cap',
      'at_entity_cap',
      'at_pool_cap',
      'at_repository_cap',
      'github_budget',
      'github_unavailable',
      'pool_suspected',
      'unexplained_ends',
    ]);
  });

  test.each([
    [null, 'See whether the runner group admits the repository and the workflow.'],
    [
      { ...CI, workflows: ['a.yml', 'b.yml'] },
      'See whether the runner group ci admits the job: it takes jobs of private repositories, and only of the workflows a.yml, b.yml.',
    ],
    [
      { ...CI, visibility: null },
      'See whether the runner group ci admits the job: it takes jobs of all repositories.',
    ],
  ])('that GitHub assigns no job says whom the group admits: %j (C11)', (group, advice) => {
    expect(explainWait(factsWith({ reason: 'github_does_not_assign', group })).advice).toBe(advice);
  });

  test('that has ended since asks for nothing', () => {
    expect(explainWait(factsWith({ reason: 'making_stopped' })).advice).toBe('Nothing.');
  });

  test('that a newer scheduler stores is named', () => {
    expect(explainWait(factsWith({ reason: 'moon_phase' }))).toMatchObject({
      actor: 'platform',
      reason: 'moon_phase',
      sentence: 'The scheduler gives the reason moon_phase, which this version cannot explain.',
    });
  });
});
