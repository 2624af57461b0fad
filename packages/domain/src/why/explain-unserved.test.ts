import { describe, expect, test } from '@jest/globals';
import type { JobStatement } from '../deliveries/workflow-job-event.ts';
import { NOT_SERVED } from '../pools/place-job.ts';
import { poolsDocument } from '../pools/pools-document.ts';
import { queuedJob } from '../scenes/queued-job.scene.ts';
import { NOW, factsWith, secondsAgo, workerWith } from '../scenes/wait-facts.scene.ts';
import { explainUnserved } from './explain-unserved.ts';
import { explainWait, joinReasons } from './explain-wait.ts';
import { readJobReference } from './job-reference.ts';
import type { WorkerFacts } from './wait-facts.ts';
import { workerState, workersOnTheirWay } from './worker-progress.ts';

const pool = { image: 'runner:1', namespace: 'runners' };
const DOCUMENT = poolsDocument.parse({
  pools: [
    { ...pool, name: 'linux', labels: ['self-hosted', 'linux'] },
    { ...pool, name: 'big', labels: ['self-hosted', 'linux', 'big'] },
    {
      ...pool,
      name: 'gpu',
      labels: ['self-hosted', 'linux', 'gpu'],
      entities: ['lab'],
      runnerGroup: 'gpu',
    },
  ],
  entities: { acme: {}, lab: {} },
});

const receivedAt = new Date('2026-01-31T10:00:02Z');

const explain = (outcome: string, given: Partial<JobStatement> = {}, document = DOCUMENT) =>
  explainUnserved({ outcome, receivedAt, job: queuedJob(given) }, document);

/** What only jobs of our rows have. */
const ALONE = { place: null, lastStarts: null, workers: [], caps: [], earlier: [] };

const stranger = { id: 8, login: 'sam', type: 'User' } as const;

const CASES: readonly [(typeof NOT_SERVED)[number], Partial<JobStatement>, string, string][] = [
  [
    'ignored_no_label',
    { labels: ['linux', 'arm'] },
    'author',
    'No pool has all of its labels: the nearest, linux, lacks the label arm.',
  ],
  [
    'ignored_no_label',
    { labels: ['big', 'arm'] },
    'author',
    'No pool has all of its labels: the nearest, big, lacks the label arm.',
  ],
  // The pool gpu is nearer, and does not serve acme.
  [
    'ignored_no_label',
    { labels: ['gpu', 'arm'] },
    'author',
    'No pool has all of its labels: the nearest, linux, lacks the labels arm, gpu.',
  ],
  [
    'ignored_no_label',
    { labels: [] },
    'author',
    'It asks for no label, and a pool is found by labels.',
  ],
  ['ignored_entity', { entity: stranger }, 'platform', 'sam is not among the configured entities.'],
  [
    'refused_entity',
    {},
    'platform',
    'Another entity had the login acme first, so the configuration does not mean this one.',
  ],
  [
    'ignored_pool_closed',
    { labels: ['gpu'] },
    'platform',
    'The pools gpu have its labels, and none of them serves acme/api.',
  ],
  [
    'ignored_public_repository',
    { isPublic: true },
    'platform',
    'The pool linux serves no public repositories, and acme/api is public.',
  ],
  [
    'ignored_public_repository',
    { isPublic: null },
    'platform',
    'The pool linux serves no public repositories, and acme/api may be public.',
  ],
];

test.each(CASES)('a job without a pool: %s %j (P5)', (outcome, given, actor, sentence) => {
  expect(explain(outcome, given)).toEqual({
    ...ALONE,
    state: 'not_served',
    reason: outcome,
    actor,
    sentence,
    advice: expect.stringMatching(/^[A-Z].+\.$/),
    since: new Date('2026-01-31T10:00:00Z'),
  });
});

test('every outcome without a pool is explained (P5)', () => {
  expect(new Set(CASES.map(([outcome]) => outcome))).toEqual(new Set(NOT_SERVED));
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

test.each([
  [
    { status: 'running', ...began },
    {
      state: 'running',
      since: new Date('2026-01-31T10:01:00Z'),
      sentence: 'It runs on mine, a runner of others, since 2026-01-31T10:01:00Z.',
    },
  ],
  [
    { ...ended, conclusion: 'success' },
    {
      state: 'ended',
      since: new Date('2026-01-31T10:02:00Z'),
      sentence:
        'It ended on mine, a runner of others, at 2026-01-31T10:02:00Z with the conclusion success.',
    },
  ],
  [
    { ...ended, runnerName: null },
    {
      state: 'ended',
      since: new Date('2026-01-31T10:02:00Z'),
      sentence: 'It ended at 2026-01-31T10:02:00Z.',
    },
  ],
] as const)('a job without a pool may run elsewhere: %j (P5)', (given, answer) => {
  const reason = 'job_already_exists';
  const none = { actor: null, advice: 'Nothing.' };
  expect(explain(reason, given)).toEqual({ ...ALONE, ...none, ...answer, reason });
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
    const earlier = [span('pool_failing', 300, 121), span('no_capacity', 310, 300)];
    expect(explainWait(factsWith({ reason: 'pool_failing', earlier }))).toMatchObject({
      since: secondsAgo(300),
      earlier: [span('no_capacity', 310, 300)],
    });
    expect(explainWait(factsWith({ reason: 'no_capacity', earlier }))).toMatchObject({
      since: secondsAgo(120),
      earlier,
    });
    expect(explainWait(factsWith({ earlier })).earlier).toEqual(earlier);
  });
});

const RUN = 'https://github.com/acme/api/actions/runs/9200000001';

test.each([
  ['34500000001', { job: 34_500_000_001 }],
  [`${RUN}/job/34500000001`, { job: 34_500_000_001 }],
  [`${RUN}/job/34500000001?pr=7#step:3:1`, { job: 34_500_000_001 }],
  [`${RUN}/attempts/2/job/34500000001`, { job: 34_500_000_001 }],
  ['https://github.example.com/acme/api/actions/runs/7/job/8', { job: 8 }],
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
  'github.com/acme/api/actions/runs/1',
  'https://example.com/mirror/acme/api/actions/runs/1',
])('%s is neither a job nor a run (P5)', (text) => {
  expect(readJobReference(text)).toBeUndefined();
});

const ready = { hasBegunRegistration: true, isRegistered: true, hasPod: true, isRunning: true };

test.each<[string, Partial<WorkerFacts>]>([
  ['reserved', {}],
  ['registering', { hasBegunRegistration: true }],
  ['registered', { hasBegunRegistration: true, isRegistered: true }],
  ['starting', { hasPod: true }],
  ['ready', ready],
  ['offline', { ...ready, isOffline: true }],
  ['no_node', { hasPod: true, isUnschedulable: true }],
  ['no_node', { hasPod: true, isUnschedulable: true, stuckReason: 'unschedulable' }],
  ['stuck', { hasPod: true, stuckReason: 'image_pull' }],
  ['stuck', { ...ready, stuckReason: 'terminating' }],
  ['stopping', { ...ready, isStopping: true }],
])('a worker is %s (P5)', (state, given) => {
  expect(workerState(workerWith(given))).toBe(state);
});

test('the readiest worker comes first, then the oldest, each with what is wrong (P5)', () => {
  const workers = [
    workerWith({ name: 'young', createdAt: secondsAgo(10) }),
    workerWith({ name: 'oldest', createdAt: secondsAgo(30) }),
    workerWith({ name: 'old', createdAt: secondsAgo(20) }),
    workerWith({ name: 'stuck', stuckReason: 'image_pull', diagnosis: 'ErrImagePull' }),
    workerWith({ ...ready, name: 'ready', createdAt: secondsAgo(1) }),
  ];
  const reserved = { state: 'reserved', detail: 'its registration has not begun' };
  expect(workersOnTheirWay(workers, NOW)).toEqual([
    {
      name: 'ready',
      state: 'ready',
      detail: 'its pod runs, and GitHub can give it a job',
      ageMs: 1_000,
    },
    { ...reserved, name: 'oldest', ageMs: 30_000 },
    { ...reserved, name: 'old', ageMs: 20_000 },
    { ...reserved, name: 'young', ageMs: 10_000 },
    {
      name: 'stuck',
      state: 'stuck',
      detail: 'its pod does not start, or does not go (image_pull: ErrImagePull)',
      ageMs: 10_000,
    },
  ]);
});
