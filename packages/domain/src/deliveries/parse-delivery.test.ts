import { describe, expect, test } from '@jest/globals';
import { parseDelivery } from './parse-delivery.ts';
import { definitions, example, withJob } from '../scenes/webhook-examples.scene.ts';

describe('parseDelivery', () => {
  test('reads every published example of every event, each as the event and action it is (B3)', () => {
    for (const { name, examples } of definitions) {
      for (const payload of examples) {
        const parsed = parseDelivery(name, payload);
        const action = payload['action'];
        expect(parsed).toMatchObject({
          event: typeof action === 'string' ? `${name}.${action}` : name,
        });
      }
    }
  });

  test.each([
    [' PDK-abc123-Linux-0123456789AB ', 'pdk-abc123-linux-0123456789ab'],
    ['My Runner', 'My Runner'],
    ['', null],
    ['  ', null],
    [null, null],
  ])('reads the runner %j as %j (B7)', (runner_name, runnerName) => {
    expect(
      parseDelivery('workflow_job', { ...withJob(0, { runner_name }), action: 'in_progress' }),
    ).toMatchObject({ job: { runnerName } });
  });

  test('reads a queued job of a user, labels normalised (A2)', () => {
    expect(
      parseDelivery('workflow_job', withJob(6, { labels: ['Self-Hosted', 'k8s', 'K8S'] })),
    ).toEqual({
      kind: 'job',
      event: 'workflow_job.queued',
      installationId: 23154469,
      entity: { id: 25349044, login: 'lineville', type: 'User' },
      repoId: 591427149,
      job: {
        jobId: 12877621891,
        status: 'pending',
        runId: 4747967848,
        runAttempt: 1,
        jobName: 'test',
        workflowName: 'Env Test',
        htmlUrl:
          'https://github.com/lineville/elastic-machines-testing/actions/runs/4747967848/jobs/8433573014',
        labels: ['k8s', 'self-hosted'],
        conclusion: null,
        runnerName: null,
        runnerId: null,
        queuedAt: '2023-04-19T21:12:12.000Z',
        startedAt: null,
        completedAt: null,
        entity: { id: 25349044, login: 'lineville', type: 'User' },
        repoId: 591427149,
        repoFullName: 'lineville/elastic-machines-testing',
        isPublic: true,
        installationId: 23154469,
      },
    });
  });

  test('the action decides: queued with the status waiting is queued, waiting is no demand (B3)', () => {
    expect(parseDelivery('workflow_job', example('workflow_job', 6))).toMatchObject({
      kind: 'job',
      job: { status: 'pending' },
    });
    expect(parseDelivery('workflow_job', example('workflow_job', 7))).toMatchObject({
      kind: 'waiting_job',
      event: 'workflow_job.waiting',
    });
  });

  test('a queued job that names a runner is not believed to run on it', () => {
    expect(parseDelivery('workflow_job', example('workflow_job', 5))).toMatchObject({
      job: { status: 'pending', runnerName: null, runnerId: null, startedAt: null },
    });
  });

  test('an old payload without run_attempt, workflow_name, created_at and installation is read with defaults', () => {
    expect(parseDelivery('workflow_job', example('workflow_job', 0))).toMatchObject({
      kind: 'job',
      installationId: null,
      job: {
        status: 'running',
        runAttempt: 1,
        workflowName: null,
        queuedAt: null,
        runnerName: 'my runner',
        runnerId: 1,
      },
    });
  });

  test('notes an unknown action of workflow_job, with any other content', () => {
    const noted = { kind: 'noted', outcome: 'ignored_action', event: 'workflow_job.paused' };
    expect(parseDelivery('workflow_job', { action: 'paused' })).toMatchObject(noted);
    expect(
      parseDelivery('workflow_job', { ...example('workflow_job', 6), action: 'paused' }),
    ).toMatchObject({
      ...noted,
      repoId: 591427149,
    });
  });

  test.each([
    ['no job', { workflow_job: undefined }],
    ['no repository', { repository: undefined }],
    ['a label that is no text', withJob(6, { labels: [1] })],
    ['an id that is no number', withJob(6, { id: '12877621891' })],
    ['an id that JavaScript would round', withJob(6, { id: 2 ** 53 })],
    ['a negative id', withJob(6, { id: -1 })],
    ['a run attempt beyond an integer', withJob(6, { run_attempt: 2 ** 31 })],
    [
      'an entity of an unknown type',
      {
        repository: {
          id: 1,
          full_name: 'a/b',
          private: true,
          owner: { id: 1, login: 'a', type: 'Enterprise' },
        },
      },
    ],
    [
      'a repository that does not say whether it is public',
      { repository: { id: 1, full_name: 'a/b', owner: { id: 1, login: 'a', type: 'User' } } },
    ],
  ])('a job with %s is malformed (B5)', (_what, changes) => {
    expect(
      parseDelivery('workflow_job', { ...example('workflow_job', 6), ...changes }),
    ).toMatchObject({ kind: 'malformed' });
  });

  test.each([null, 1, 'text', true, [], [{}]])(
    '%j is no JSON object and malformed for every event (B5)',
    (body) => {
      expect(parseDelivery('ping', body)).toEqual({
        kind: 'malformed',
        problem: 'the body is not a JSON object',
      });
      expect(parseDelivery('push', body)).toMatchObject({ kind: 'malformed' });
    },
  );

  test.each([null, undefined])(
    'a job whose labels and attempt are %p has none and the first (P1)',
    (value) => {
      const payload = withJob(6, { labels: value, run_attempt: value });
      expect(parseDelivery('workflow_job', payload)).toMatchObject({
        kind: 'job',
        job: { labels: [], runAttempt: 1 },
      });
    },
  );

  test('an instant that cannot be read counts as not given', () => {
    for (const at of ['yesterday', '', 5e15, {}, '+275760-09-13T00:00:00Z']) {
      expect(parseDelivery('workflow_job', withJob(6, { created_at: at }))).toMatchObject({
        kind: 'job',
        job: { queuedAt: null },
      });
    }
  });
});
