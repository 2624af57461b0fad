import { describe, expect, test } from '@jest/globals';
import type { JobStatement } from '../deliveries/workflow-job-event.ts';
import { NOT_SERVED } from '../pools/place-job.ts';
import { poolsDocument } from '../pools/pools-document.ts';
import { queuedJob } from '../scenes/deliveries.scene.ts';
import { NOW, factsWith, secondsAgo, workerWith } from '../scenes/wait-facts.scene.ts';
import { explainUnserved } from './explain-unserved.ts';
import { type WaitAnswer, explainWait, joinReasons } from './explain-wait.ts';
import { readJobReference } from './job-reference.ts';
import { workersOnTheirWay } from './worker-progress.ts';

const pool = (name: string, more: object = {}) => ({
  name,
  labels: [...new Set(['self-hosted', 'linux', name])],
  image: 'runner:1',
  namespace: 'runners',
  ...more,
});
const gpu = pool('gpu', { entities: ['lab'], runnerGroup: 'gpu' });
const DOCUMENT = poolsDocument.parse({
  pools: [pool('linux'), pool('big'), gpu],
  entities: { acme: {}, lab: {} },
});

const receivedAt = new Date('2026-01-31T10:00:02Z');

const explain = (outcome: string, given: Partial<JobStatement> = {}, document = DOCUMENT) =>
  explainUnserved({ outcome, receivedAt, job: queuedJob(given) }, document);

/** What only jobs of our rows have. */
const ALONE = { place: null, lastStarts: null, workers: [], caps: [], earlier: [] };

/** What a row of the table says of the job; other words are the labels that it asks for. */
const JOBS: Readonly<Record<string, Partial<JobStatement>>> = {
  'of sam': { entity: { id: 8, login: 'sam', type: 'User' } },
  public: { isPublic: true },
  'maybe public': { isPublic: null },
};

/** For each outcome, the job in parentheses, and the sentence that they make. */
const CASES = [
  'ignored_no_label (linux arm) → No pool has all of its labels: the nearest, linux, lacks the label arm.',
  'ignored_no_label (big arm) → No pool has all of its labels: the nearest, big, lacks the label arm.',
  // The pool gpu is nearer, and does not serve acme.
  'ignored_no_label (gpu arm) → No pool has all of its labels: the nearest, linux, lacks the labels arm, gpu.',
  'ignored_no_label () → It asks for no label, as `runs-on` with a group alone does, and no pool takes such jobs.',
  'ignored_entity (of sam) → sam is not among the configured entities.',
  'refused_entity (linux) → Another entity had the login acme first, so the configuration does not mean this one.',
  'ignored_pool_closed (gpu) → The pools gpu have its labels, and none of them serves acme/api.',
  'ignored_public_repository (public) → The pool linux serves no public repositories, and acme/api is public.',
  'ignored_public_repository (maybe public) → The pool linux serves no public repositories, and acme/api may be public.',
];

test.each(CASES)('a job without a pool: %s (P5)', (row) => {
  const [, outcome = '', job = '', sentence] = /^(\w+) \((.*)\) → (.*)$/.exec(row) ?? [];
  const labels = job.split(' ').filter((label) => label !== '');
  expect(explain(outcome, JOBS[job] ?? { labels })).toEqual({
    ...ALONE,
    state: 'not_served',
    reason: outcome,
    actor: outcome === 'ignored_no_label' ? 'author' : 'platform',
    sentence,
    advice: expect.stringMatching(/^[A-Z].+\.$/),
    since: new Date('2026-01-31T10:00:00Z'),
  });
});

test('every outcome without a pool is explained (P5)', () => {
  expect(new Set(CASES.map((row) => row.split(' ')[0]))).toEqual(new Set(NOT_SERVED));
});

test('the pools in force count, not those of the delivery (P5)', () => {
  expect(explain('ignored_no_label')).toMatchObject({
    actor: 'platform',
    sentence: 'The pool linux serves the job now, and did not when GitHub announced it.',
  });
  expect(
    explainUnserved({ outcome: 'ignored_no_label', receivedAt, job: queuedJob() }, undefined),
  ).toMatchObject({ actor: 'platform', sentence: 'No pools are in force yet.' });
  const elsewhere = { ...DOCUMENT, pools: DOCUMENT.pools.filter(({ name }) => name === 'gpu') };
  expect(explain('ignored_no_label', {}, elsewhere).sentence).toBe(
    'The pools gpu have its labels, and none of them serves acme/api.',
  );
  expect(explain('ignored_no_label', { labels: ['arm'] }, elsewhere).sentence).toBe(
    'No pool serves acme/api.',
  );
});

const began = { startedAt: '2026-01-31T10:01:00Z', runnerName: 'mine' };
const ended = { ...began, status: 'completed', completedAt: '2026-01-31T10:02:00Z' } as const;

test.each<[Partial<JobStatement>, WaitAnswer['state'], string]>([
  [
    { status: 'running', ...began },
    'running',
    'It runs on mine, a runner of others, since 2026-01-31T10:01:00Z.',
  ],
  [
    { ...ended, conclusion: 'success' },
    'ended',
    'It ended on mine, a runner of others, at 2026-01-31T10:02:00Z with the conclusion success.',
  ],
  [{ ...ended, runnerName: null }, 'ended', 'It ended at 2026-01-31T10:02:00Z.'],
])('a job without a pool may run elsewhere: %j (P5)', (given, state, sentence) => {
  expect(explain('job_already_exists', given)).toEqual({
    ...ALONE,
    reason: 'job_already_exists',
    state,
    since: new Date(given.completedAt ?? began.startedAt),
    actor: null,
    sentence,
    advice: 'Nothing.',
  });
});

test('a job without a pool may be held back at GitHub (P5)', () => {
  expect(explain('job_waiting')).toMatchObject({ state: 'held', actor: 'author' });
});

test('a job of unknown times waits since its delivery (P5)', () => {
  expect(explain('ignored_no_label', { queuedAt: null }).since).toBe(receivedAt);
});

const span = (reason: string, since: number, until: number) => ({
  reason,
  since: secondsAgo(since),
  until: secondsAgo(until),
});

describe('a reason that comes and goes', () => {
  test('has held since it first came, if it was gone for a moment only', () => {
    expect(
      joinReasons([
        span('pool_failing', 10, 0),
        span('pool_failing', 100, 11),
        span('pool_failing', 900, 160),
        span('no_capacity', 950, 901),
        span('pool_failing', 999, 950),
      ]),
    ).toEqual([
      span('pool_failing', 900, 0),
      span('no_capacity', 950, 901),
      span('pool_failing', 999, 950),
    ]);
  });

  test('is another one after more than a minute without it', () => {
    const spans = [span('pool_failing', 10, 0), span('pool_failing', 100, 70.001)];
    expect(joinReasons([span('pool_failing', 10, 0), span('pool_failing', 100, 70)])).toHaveLength(
      1,
    );
    expect(joinReasons(spans)).toEqual(spans);
  });

  test('is told with the time since which it keeps the job waiting (G4)', () => {
    // The key has its reason for 120 s.
    // The job is known for 299 s, and what its key waited for before is not its own.
    const own = [span('pool_failing', 290, 121), span('no_capacity', 299, 290)];
    const earlier = [
      span('pool_failing', 290, 121),
      span('no_capacity', 310, 290),
      span('at_pool_cap', 400, 310),
    ];
    expect(explainWait(factsWith({ reason: 'pool_failing', earlier }))).toMatchObject({
      since: secondsAgo(290),
      earlier: [span('no_capacity', 299, 290)],
    });
    expect(explainWait(factsWith({ reason: 'no_capacity', earlier }))).toMatchObject({
      since: secondsAgo(120),
      earlier: own,
    });
    expect(explainWait(factsWith({ earlier })).earlier).toEqual(own);
  });
});

const RUN = 'https://github.com/acme/api/actions/runs/9200000001';

test.each<[string, object]>([
  ['34500000001', { job: 34_500_000_001 }],
  [`${RUN}/job/34500000001`, { job: 34_500_000_001 }],
  [`${RUN}/job/34500000001?pr=7#step:3:1`, { job: 34_500_000_001 }],
  [`${RUN}/attempts/2/job/34500000001`, { job: 34_500_000_001 }],
  [`${RUN}/job/34500000001/#step:3:1`, { job: 34_500_000_001 }],
  ...[
    'https://github.example.com/acme/api/actions/runs/7/job/8',
    'github.example.com:8443/acme/api/actions/runs/7/job/8',
    'https://github.com/acme/api/runs/8?check_suite_focus=true',
    'https://github.com/acme/api/runs/7/jobs/8',
    'https://github.com/acme/api/pull/77/checks?check_run_id=8',
    'https://github.com/acme/api/pull/77/checks?sha=a1&check_run_id=8&pr=7',
    'https://github.com/acme/api/commit/a1b2/checks/8/logs',
    'https://api.github.com/repos/acme/api/actions/jobs/8',
    'https://github.example.com/api/v3/repos/acme/api/check-runs/8',
    'acme/api/actions/runs/7/job/8',
    '/acme/api/actions/runs/7/attempts/2/job/8?pr=7#step:3:1',
    '/repos/acme/api/actions/jobs/8',
  ].map((text): [string, object] => [text, { job: 8 }]),
  ...['', '?pr=7', '/workflow', '/attempts/2#summary-8'].map((end): [string, object] => [
    `github.com/acme/api/actions/runs/7${end}`,
    { run: 7, owner: 'acme' },
  ]),
  ['acme/api/actions/runs/7', { run: 7, owner: 'acme' }],
  ['repos/acme/api/actions/runs/7/jobs?filter=all', { run: 7, owner: 'acme' }],
  [RUN, { run: 9_200_000_001, owner: 'acme' }],
  [`${RUN}/`, { run: 9_200_000_001, owner: 'acme' }],
  [`${RUN}/attempts/12`, { run: 9_200_000_001, owner: 'acme' }],
])('%s is %o (P5)', (text, reference) => {
  expect(readJobReference(text)).toEqual(reference);
});

test.each([
  '',
  '0',
  '-1',
  '1e3',
  '99999999999999999',
  'build',
  'https://github.com/acme/api',
  'https://github.com/acme/api/actions/runs/x',
  'https://github.com/acme/api/actions/runs/1/job/x',
  'acme/api',
  'github.com/actions/runs/1',
  'https://github.com/acme/api/runs/7/jobs/x',
  'https://github.com/acme/api/pull/77/checks',
  'https://example.com/mirror/acme/api/actions/runs/1',
  'example.com/mirror/acme/api/actions/runs/1',
  '//acme/api/actions/runs/1',
])('%s is neither a job nor a run (P5)', (text) => {
  expect(readJobReference(text)).toBeUndefined();
});

const ready = { hasBegunRegistration: true, isRegistered: true, hasPod: true, isRunning: true };

test('the readiest worker comes first, then the oldest, each with what is wrong (P5)', () => {
  const workers = [
    workerWith({ name: 'young', createdAt: secondsAgo(10) }),
    workerWith({ name: 'oldest', createdAt: secondsAgo(30) }),
    workerWith({ name: 'old', createdAt: secondsAgo(20) }),
    workerWith({ name: 'stuck', stuckReason: 'image_pull', diagnosis: 'ErrImagePull' }),
    workerWith({ ...ready, name: 'ready', createdAt: secondsAgo(1) }),
  ];
  const found = workersOnTheirWay(workers, NOW);
  expect(found.map(({ name, ageMs }) => [name, ageMs])).toEqual([
    ['ready', 1_000],
    ['oldest', 30_000],
    ['old', 20_000],
    ['young', 10_000],
    ['stuck', 10_000],
  ]);
  expect(found.map(({ detail }) => detail)).toEqual([
    'its pod runs, and GitHub can give it a job',
    ...Array.from({ length: 3 }, () => 'its registration has not begun'),
    'its pod does not start, or does not go (image_pull: ErrImagePull)',
  ]);
});
