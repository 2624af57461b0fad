import { describe, expect, test } from '@jest/globals';
import { WAIT_REASONS } from '../matching/wait-reasons.ts';
import { factsWith, NOW, secondsAgo } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';
import type { CapFacts, FailingFacts, ToldFacts, WaitFacts } from './wait-facts.ts';

const UNTIL = new Date('2026-01-31T10:01:00Z');
const failing = (given: Partial<FailingFacts> = {}): Pick<WaitFacts, 'failing'> => ({
  failing: {
    reason: 'pod_refused',
    failures: 3,
    since: secondsAgo(60),
    pausedUntil: UNTIL,
    message: 'The quota is used up.',
    ...given,
  },
});
const told = (reason: ToldFacts['reason'], until = UNTIL): Pick<WaitFacts, 'told'> => ({
  told: [{ reason, until, message: 'Resource not accessible.' }],
});
const outage = (service: string, message: string): Pick<WaitFacts, 'outages'> => ({
  outages: [{ service, since: secondsAgo(60), message }],
});
const cap = (kind: CapFacts['kind'], name: string, used = 20): Pick<WaitFacts, 'caps'> => ({
  caps: [{ kind, name, used, limit: 20 }],
});
const CI = {
  name: 'ci',
  excess: null,
  visibility: 'private',
  workflows: null,
  lacksRepository: false,
};

/** What a row of the table says of the job beside its reason. */
const FACTS: Readonly<Record<string, Parameters<typeof factsWith>[0]>> = {
  'at a repository': { job: { scopeRepoId: 7 } },
  'nearest lacks two': { nearest: { pool: 'linux', missing: ['gpu', 'large'] } },
  'nearest lacks none': { nearest: { pool: 'linux', missing: [] } },
  'group is open': { group: { ...CI, excess: 'The runner group ci lets in public repositories' } },
  'group is closed': { group: CI },
  'GitHub is away': outage('github', 'GET /rate_limit: 503'),
  'cluster is away': outage('default', ' No route to 10.0.0.1\n'),
  paused: failing(),
  'pause is over': failing({ pausedUntil: NOW }),
  'failed once': failing({ failures: 1, pausedUntil: null, message: ' no quota\n' }),
  'entity is refused': told('installation_refused'),
  'entity may be tried': told('installation_refused', NOW),
  'repository is refused': told('repository_refused'),
  'repository has gone': told('repository_gone'),
  'App was lost': { lostApp: { app: 1001, at: secondsAgo(60) } },
  'little budget': { budget: { remaining: 1, resetAt: new Date('2026-01-31T10:30:00Z') } },
  'told to wait': told('github_budget'),
  'entity has all': cap('at_entity_cap', 'maxWorkers of acme'),
  'entity has one': cap('at_entity_cap', 'maxWorkers of acme', 1),
  'others have all': cap('at_common_cap', "commonMaxWorkers of '*'"),
  'pool has all': cap('at_pool_cap', 'maxWorkers of the pool linux'),
  'repository has all': cap('at_repository_cap', 'maxWorkersPerRepository of the pool linux'),
  'two without a node': { withoutNode: 2 },
  'one unexplained end': { unexplained: 1 },
};

const FAILURES =
  ' (3 failures since 2026-01-31T09:59:00Z, one worker tries again at 2026-01-31T10:01:00Z): The quota is used up.';
const REFUSAL = ' (Paddock asks again at 2026-01-31T10:01:00Z): Resource not accessible.';

/** For each reason, its facts in parentheses, and the sentence that they make. */
const CASES = [
  'pool_unknown → The pool linux is no longer in the configuration.',
  'no_pool_fits (nearest lacks two) → No pool serves the job now: the nearest, linux, lacks the labels gpu, large.',
  'no_pool_fits (nearest lacks none) → A change of the configuration left the job without a pool that serves it.',
  'no_pool_fits → A change of the configuration left the job without a pool that serves it.',
  'pool_closed → The pool linux no longer serves acme.',
  'pool_closed (at a repository) → The pool linux no longer serves acme/api.',
  'runner_group_open (group is open) → The runner group ci lets in public repositories, and the pool linux does not serve that.',
  'runner_group_open (group is closed) → The runner group of the pool linux let in more than the pool serves.',
  'runner_group_open → The runner group of the pool linux let in more than the pool serves.',
  'pool_paused → The configuration has paused the pool linux.',
  'entity_not_allowed → acme is not among the configured entities.',
  'making_stopped → A person had stopped the making of workers, and the next pass goes on.',
  'github_unavailable (GitHub is away) → GitHub has not answered since 2026-01-31T09:59:00Z: GET /rate_limit: 503.',
  'github_unavailable (cluster is away) → GitHub did not answer, and does again: the next pass goes on.',
  'cluster_unavailable (cluster is away) → The cluster has not answered since 2026-01-31T09:59:00Z: No route to 10.0.0.1.',
  `workers_failing (paused) → Workers for acme in the pool linux fail before they have a job${FAILURES}`,
  'workers_failing (at a repository, pause is over) → Workers for acme/api in the pool linux fail before they have a job (3 failures since 2026-01-31T09:59:00Z, one worker may try since 2026-01-31T10:00:00Z): The quota is used up.',
  'workers_failing (failed once) → Workers for acme in the pool linux fail before they have a job (1 failure since 2026-01-31T09:59:00Z, one worker tries next): no quota.',
  'workers_failing → Workers for acme in the pool linux fail before they have a job.',
  'pool_suspected → Workers of two other entities fail in the pool linux: one worker for acme starts first, and the rest follow once it runs.',
  `installation_refused (entity is refused) → GitHub refuses what the App asks for acme${REFUSAL}`,
  'installation_refused (entity may be tried) → GitHub refuses what the App asks for acme (one worker may ask again since 2026-01-31T10:00:00Z): Resource not accessible.',
  `installation_refused (paused) → GitHub refuses what the App asks for acme${FAILURES}`,
  'installation_refused (repository is refused) → GitHub refuses what the App asks for acme.',
  'installation_suspended (App was lost) → The App 1001 is suspended on acme since 2026-01-31T09:59:00Z.',
  'app_not_configured → No App of the configuration file is installed on acme.',
  'installation_gone (App was lost) → The App 1001 is no longer installed on acme since 2026-01-31T09:59:00Z.',
  'installation_gone → No App that Paddock uses is installed on acme, and free to act there.',
  `repository_gone (at a repository, repository has gone) → GitHub does not show the repository acme/api to the App${REFUSAL}`,
  `repository_refused (at a repository, repository is refused) → GitHub refuses to register runners at acme/api${REFUSAL}`,
  `runner_outdated (paused) → GitHub no longer serves the runner version of the pool linux${FAILURES}`,
  'github_budget (little budget) → GitHub allows 1 more registration of runners for acme until 2026-01-31T10:30:00Z, and those on their way use them.',
  'github_budget (told to wait) → GitHub has asked Paddock to make no runners for acme until 2026-01-31T10:01:00Z: Resource not accessible.',
  // The words of a refusal are not those of a wait.
  'github_budget (entity is refused) → The runners that were registered for acme in the last minute are as many as GitHub allows.',
  'at_entity_cap (entity has all) → maxWorkers of acme is 20, and 20 workers are there.',
  'at_entity_cap (entity has one) → maxWorkers of acme is 20, and 1 worker is there: the next pass gives out the rest.',
  'at_entity_cap → The last pass found no room under maxWorkers of acme.',
  "at_common_cap (others have all) → commonMaxWorkers of '*' is 20, and 20 workers are there.",
  "at_common_cap → The last pass found no room under commonMaxWorkers of '*'.",
  'no_capacity (two without a node) → No node takes 2 workers for acme in the pool linux; more follow when these find nodes or end.',
  'at_pool_cap (pool has all) → maxWorkers of the pool linux is 20, and 20 workers are there.',
  // The numbers of another cap are not its own.
  'at_pool_cap (entity has all) → The last pass found no room under maxWorkers of the pool linux.',
  `github_does_not_assign (paused) → GitHub gives idle runners of the pool linux at acme no job${FAILURES}`,
  'at_repository_cap (at a repository, repository has all) → maxWorkersPerRepository of the pool linux is 20, and 20 workers are there.',
  'at_repository_cap → The last pass found no room under maxWorkersPerRepository of the pool linux.',
  'unexplained_ends (one unexplained end) → 1 runner that may have run the job ended without a known one: GitHub is asked which jobs still wait.',
  'unexplained_ends → Workers of this kind end without a known job: GitHub is asked which jobs still wait.',
];

describe('each reason to wait (P5)', () => {
  test.each(CASES)('%s', (row) => {
    const [, reason = '', words, sentence] = /^(\w+)(?: \((.*)\))? → (.*)$/.exec(row) ?? [];
    const facts = words?.split(', ').map((word) => FACTS[word]) ?? [];
    expect(facts).not.toContain(undefined);
    const answer = explainWait(factsWith(Object.assign({ reason }, ...facts)));
    expect(answer).toMatchObject({ state: 'waiting', reason, sentence, since: secondsAgo(120) });
    expect(answer.advice).toMatch(/^[A-Z].+\.$/);
  });

  test('has such a sentence', () => {
    expect(new Set(CASES.map((row) => row.split(' ')[0]))).toEqual(
      new Set(Object.keys(WAIT_REASONS)),
    );
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

  test.each([
    [failing(), /^Raise the quota of the namespace/],
    [failing({ reason: 'image_pull' }), /^See whether the image is there/],
    [failing({ reason: 'exit_code' }), /^Look at the pool’s image, template and quota/],
    [{ failing: null }, /^Look at the pool’s image, template and quota/],
  ])('that workers fail says what to do about such failures: %j', (facts, advice) => {
    const answer = explainWait(factsWith({ reason: 'workers_failing', ...facts }));
    expect(answer.advice).toMatch(advice);
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
