import { describe, expect, test } from '@jest/globals';
import { definitions, example, withJob } from '../scenes/webhook-examples.scene.ts';
import { parseDelivery } from './parse-delivery.ts';

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

describe('other deliveries', () => {
  test('an installation states its entity, selection and instants, in seconds or in text (A12)', () => {
    expect(parseDelivery('installation', example('installation', 1))).toMatchObject({
      kind: 'installation',
      installationId: 957387,
      statement: {
        entity: { id: 21031067, login: 'Codertocat', type: 'User' },
        installationId: 957387,
        repositorySelection: 'selected',
        suspendedAt: null,
        isDeleted: false,
        statedAt: '2019-05-15T15:19:51.000Z',
      },
    });
    expect(parseDelivery('installation', example('installation', 5))).toMatchObject({
      event: 'installation.suspend',
      statement: { suspendedAt: '2021-04-29T02:32:50.000Z', statedAt: '2021-04-29T02:32:50.000Z' },
    });
    expect(parseDelivery('installation', example('installation', 0))).toMatchObject({
      statement: { isDeleted: true },
    });
  });

  test.each([
    ['suspend', null, '2026-01-01T00:00:00.000Z'],
    ['suspend', '2026-01-02T00:00:00Z', '2026-01-02T00:00:00.000Z'],
    ['created', null, null],
    ['created', '2026-01-02T00:00:00Z', '2026-01-02T00:00:00.000Z'],
  ])(
    'an installation’s %s that says suspended_at %j means %j (A12)',
    (action, suspended_at, suspendedAt) => {
      const entity = { id: 9, login: 'acme', type: 'Organization' };
      const installation = {
        id: 5,
        account: entity,
        repository_selection: 'all',
        suspended_at,
        updated_at: '2026-01-01T00:00:00Z',
      };
      expect(parseDelivery('installation', { action, installation })).toMatchObject({
        statement: { suspendedAt },
      });
    },
  );

  test.each([
    ['unsuspend', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z'],
    ['created', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['unsuspend', null, null],
  ])(
    '%s, updated at %j, is stated at %j: an end comes after its begin (A12)',
    (action, updated_at, statedAt) => {
      const account = { id: 9, login: 'acme', type: 'Organization' };
      const given = { id: 5, account, repository_selection: 'all', suspended_at: null, updated_at };
      const parsed = parseDelivery('installation', { action, installation: given });
      expect(parsed).toMatchObject({ statement: { statedAt } });
    },
  );

  test('added repositories give the present state of the installation (A12)', () => {
    expect(
      parseDelivery('installation_repositories', example('installation_repositories', 0)),
    ).toMatchObject({ kind: 'installation' });
  });

  test.each([7, '', null, undefined])('the action %j names no event', (action) => {
    expect(parseDelivery('push', { action })).toMatchObject({ event: 'push' });
    expect(parseDelivery('workflow_job', { action })).toMatchObject({
      event: 'workflow_job',
      outcome: 'ignored_action',
    });
  });

  test('an organisation without a repository is whom an event is about', () => {
    expect(parseDelivery('push', { organization: { id: 7, login: 'acme' } })).toMatchObject({
      entity: { id: 7, login: 'acme', type: 'Organization' },
      repoId: null,
    });
    expect(parseDelivery('push', { organization: { id: 7, login: '' } })).toMatchObject({
      entity: null,
    });
    expect(parseDelivery('push', { organization: { login: 'acme' } })).toMatchObject({
      entity: null,
    });
  });

  test('GitHub’s ping is answered with nothing', () => {
    expect(parseDelivery('ping', { zen: 'x' })).toMatchObject({
      kind: 'noted',
      outcome: 'ok',
      event: 'ping',
    });
  });

  test('a user has a new name, too (A12)', () => {
    const body = {
      action: 'renamed',
      account: { id: 5, login: 'mona' },
      target_type: 'User',
      installation: { id: 8 },
    };
    expect(parseDelivery('installation_target', body)).toMatchObject({
      name: { entity: { type: 'User' }, installationId: 8 },
    });
  });

  test.each([
    ['completed', { conclusion: 'success', completedAt: '2026-01-01T00:00:00.000Z' }],
    ['in_progress', { conclusion: null, completedAt: null }],
    ['queued', { conclusion: null, completedAt: null }],
  ])('only a completed job has an end: %s', (action, job) => {
    const payload = withJob(6, { conclusion: 'success', completed_at: '2026-01-01T00:00:00Z' });
    expect(parseDelivery('workflow_job', { ...payload, action })).toMatchObject({ job });
  });

  test.each([
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0000-12-31T23:59:59Z', null],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.5Z', null],
    [['2026-01-01T00:00:00Z'], null],
    [0, '1970-01-01T00:00:00.000Z'],
  ])('the instant %j is stored as %j', (created_at, queuedAt) => {
    expect(parseDelivery('workflow_job', withJob(6, { created_at }))).toMatchObject({
      job: { queuedAt },
    });
  });

  test('text that is empty is not given', () => {
    expect(parseDelivery('workflow_job', withJob(6, { workflow_name: '' }))).toMatchObject({
      job: { workflowName: null },
    });
  });

  test('reports a malformed delivery with at most five places', () => {
    const { workflow_job: _, ...rest } = example('workflow_job', 6);
    expect(parseDelivery('workflow_job', rest)).toMatchObject({
      problem: expect.stringMatching(/workflow_job payload: workflow_job: /),
    });
    const two = parseDelivery('workflow_job', withJob(6, { id: 'x', run_id: 'x' }));
    expect(two).toMatchObject({
      problem: expect.stringMatching(/: workflow_job\.id: [^;]+; workflow_job\.run_id: [^;]+$/),
    });
    const strange = withJob(6, {
      id: 'x',
      run_id: 'x',
      labels: 1,
      name: 1,
      run_attempt: 'x',
      head_branch: 1,
      html_url: 1,
    });
    const parsed = parseDelivery('workflow_job', strange);
    expect('problem' in parsed && parsed.problem.split(';').length).toBe(5);
  });

  test('other errors do not count as a malformed body', () => {
    const trap = Object.defineProperty(example('workflow_job', 6), 'workflow_job', {
      get: () => {
        throw new RangeError('trap');
      },
    });
    expect(() => parseDelivery('workflow_job', trap)).toThrow('trap');
  });

  test('notes an installation of an enterprise, or without an account, which has no repositories', () => {
    const installation = {
      id: 5,
      account: { id: 9, slug: 'corp' },
      updated_at: '2026-01-01T00:00:00Z',
    };
    expect(parseDelivery('installation', { action: 'created', installation })).toMatchObject({
      kind: 'noted',
      outcome: 'ok',
      installationId: 5,
    });
    const nameless = { action: 'created', installation: { ...installation, account: {} } };
    expect(parseDelivery('installation', nameless)).toMatchObject({ kind: 'malformed' });
    const unsaid = { action: 'created', installation: { ...installation, account: null } };
    expect(parseDelivery('installation', unsaid)).toMatchObject({ kind: 'noted', outcome: 'ok' });
    const target = {
      action: 'renamed',
      account: { id: 9, slug: 'corp' },
      target_type: 'Enterprise',
      installation: { id: 5 },
    };
    expect(parseDelivery('installation_target', target)).toMatchObject({
      kind: 'noted',
      outcome: 'ok',
      installationId: 5,
    });
  });

  test('installation_target gives an entity’s new name (A12)', () => {
    const entity = { id: 5, login: 'new-name', updated_at: '2026-01-02T00:00:00Z' };
    const body = {
      action: 'renamed',
      account: entity,
      target_type: 'Organization',
      installation: { id: 8 },
      changes: { login: { from: 'old' } },
    };
    expect(parseDelivery('installation_target', body)).toMatchObject({
      kind: 'entity_name',
      event: 'installation_target.renamed',
      name: {
        entity: { id: 5, login: 'new-name', type: 'Organization' },
        installationId: 8,
        statedAt: '2026-01-02T00:00:00.000Z',
      },
    });
  });

  test('an event that Paddock does not use is noted with whom it is about', () => {
    expect(parseDelivery('push', { ...example('push', 0) })).toMatchObject({
      kind: 'noted',
      outcome: 'ignored_event',
      event: 'push',
    });
    expect(
      parseDelivery('push', { repository: 'strange', installation: 5, organization: null }),
    ).toEqual({
      kind: 'noted',
      outcome: 'ignored_event',
      event: 'push',
      entity: null,
      installationId: null,
      repoId: null,
    });
  });
});
