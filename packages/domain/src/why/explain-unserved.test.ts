import { expect, test } from '@jest/globals';
import type { JobStatement } from '../deliveries/workflow-job-event.ts';
import { NOT_SERVED } from '../pools/place-job.ts';
import { poolsDocument } from '../pools/pools-document.ts';
import { queuedJob } from '../scenes/queued-job.scene.ts';
import { explainUnserved } from './explain-unserved.ts';

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
