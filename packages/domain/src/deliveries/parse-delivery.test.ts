import { describe, expect, test } from '@jest/globals';
import { definitions, example, withJob } from '../scenes/deliveries.scene.ts';
import { parseDelivery } from './parse-delivery.ts';

/** A `workflow_job` delivery, of the published example 6 if not of another. */
const parseJob = (changes: object, nth = 6, more: object = {}) =>
  parseDelivery('workflow_job', { ...withJob(nth, changes), ...more });

const ACME = { id: 9, login: 'acme', type: 'Organization' };
const MIDNIGHT = '2026-01-01T00:00:00.000Z';
/** An `installation` delivery that says nothing special. */
const parseInstallation = (action: string, given: object) => {
  const usual = { id: 5, account: ACME, repository_selection: 'all', suspended_at: null };
  const installation = { ...usual, updated_at: MIDNIGHT, ...given };
  return parseDelivery('installation', { action, installation });
};
/** An account has another name. */
const parseRenamed = (account: object, target_type: string) =>
  parseDelivery('installation_target', {
    action: 'renamed',
    account,
    target_type,
    installation: { id: 8 },
  });

describe('parseDelivery', () => {
  test('reads every published example of every event, each as the event and action it is (B3)', () => {
    for (const { name, examples } of definitions) {
      for (const payload of examples) {
        const { action } = payload;
        const event = typeof action === 'string' ? `${name}.${action}` : name;
        expect(parseDelivery(name, payload)).toMatchObject({ event });
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
    const parsed = parseJob({ runner_name }, 0, { action: 'in_progress' });
    expect(parsed).toMatchObject({ job: { runnerName } });
  });

  test('reads a queued job of a user, labels normalised (A2)', () => {
    const about = {
      entity: { id: 25349044, login: 'lineville', type: 'User' },
      repoId: 591427149,
      installationId: 23154469,
    };
    expect(parseJob({ labels: ['Self-Hosted', 'k8s', 'K8S'] })).toEqual({
      kind: 'job',
      event: 'workflow_job.queued',
      ...about,
      job: {
        ...about,
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
        repoFullName: 'lineville/elastic-machines-testing',
        isPublic: true,
      },
    });
  });

  test.each<[string, number, object]>([
    ['queued with the status waiting is queued (B3)', 6, { job: { status: 'pending' } }],
    ['waiting is no demand (B3)', 7, { kind: 'waiting_job', event: 'workflow_job.waiting' }],
    [
      'a queued job that names a runner is not believed to run on it',
      5,
      { job: { status: 'pending', runnerName: null, runnerId: null, startedAt: null } },
    ],
    [
      'an old payload without attempt, workflow, instant and installation has defaults',
      0,
      {
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
      },
    ],
  ])('the action decides: %s', (_what, nth, parsed) => {
    expect(parseJob({}, nth)).toMatchObject(parsed);
  });

  test('notes an unknown action of workflow_job, with any other content', () => {
    const noted = { kind: 'noted', outcome: 'ignored_action', event: 'workflow_job.paused' };
    expect(parseDelivery('workflow_job', { action: 'paused' })).toMatchObject(noted);
    expect(parseJob({}, 6, { action: 'paused' })).toMatchObject({ ...noted, repoId: 591427149 });
  });

  const owner = { id: 1, login: 'a', type: 'User' };
  const repository = { id: 1, full_name: 'a/b', owner };
  test.each([
    ['no job', {}, { workflow_job: undefined }],
    ['no repository', {}, { repository: undefined }],
    ['a label that is no text', { labels: [1] }, {}],
    ['an id that is no number', { id: '12877621891' }, {}],
    ['an id that JavaScript would round', { id: 2 ** 53 }, {}],
    ['a negative id', { id: -1 }, {}],
    ['a run attempt beyond an integer', { run_attempt: 2 ** 31 }, {}],
    [
      'an entity of an unknown type',
      {},
      { repository: { ...repository, private: true, owner: { ...owner, type: 'Enterprise' } } },
    ],
    ['a repository that does not say whether it is public', {}, { repository }],
  ])('a job with %s is malformed (B5)', (_what, job, changes) => {
    expect(parseJob(job, 6, changes)).toMatchObject({ kind: 'malformed' });
  });

  test.each([null, 1, 'text', true, [], [{}]])('%j is malformed for every event (B5)', (body) => {
    const malformed = { kind: 'malformed', problem: 'the body is not a JSON object' };
    expect(parseDelivery('ping', body)).toEqual(malformed);
    expect(parseDelivery('push', body)).toEqual(malformed);
  });

  test.each([null, undefined])('labels and attempt %p are none and the first (P1)', (value) => {
    const job = { labels: [], runAttempt: 1 };
    expect(parseJob({ labels: value, run_attempt: value })).toMatchObject({ kind: 'job', job });
  });

  test('an instant that cannot be read counts as not given', () => {
    for (const created_at of ['yesterday', '', 5e15, {}, '+275760-09-13T00:00:00Z'])
      expect(parseJob({ created_at })).toMatchObject({ kind: 'job', job: { queuedAt: null } });
  });
});

const problemOf = (parsed: object) => ('problem' in parsed ? String(parsed.problem) : '');

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

  const later = '2026-01-02T00:00:00.000Z';
  test.each([
    ['suspend', null, MIDNIGHT],
    ['suspend', later, later],
    ['created', null, null],
    ['created', later, later],
  ])(
    'an installation’s %s that says suspended_at %j means %j (A12)',
    (action, said, suspendedAt) => {
      const parsed = parseInstallation(action, { suspended_at: said });
      expect(parsed).toMatchObject({ statement: { suspendedAt } });
    },
  );

  test.each([
    ['unsuspend', MIDNIGHT, '2026-01-01T00:00:00.001Z'],
    ['created', MIDNIGHT, MIDNIGHT],
    ['unsuspend', null, null],
  ])(
    '%s, updated at %j, is stated at %j: an end comes after its begin (A12)',
    (action, updated_at, statedAt) => {
      expect(parseInstallation(action, { updated_at })).toMatchObject({ statement: { statedAt } });
    },
  );

  test('added repositories give the present state of the installation (A12)', () => {
    expect(
      parseDelivery('installation_repositories', example('installation_repositories', 0)),
    ).toMatchObject({ kind: 'installation' });
  });

  test.each([7, '', null, undefined])('the action %j names no event', (action) => {
    expect(parseDelivery('push', { action })).toMatchObject({ event: 'push' });
    const ignored = { event: 'workflow_job', outcome: 'ignored_action' };
    expect(parseDelivery('workflow_job', { action })).toMatchObject(ignored);
  });

  test.each([
    [
      { id: 7, login: 'acme' },
      { id: 7, login: 'acme', type: 'Organization' },
    ],
    [{ id: 7, login: '' }, null],
    [{ login: 'acme' }, null],
  ])('an event without a repository is about its organisation %j: %j', (organization, entity) => {
    expect(parseDelivery('push', { organization })).toMatchObject({ entity, repoId: null });
  });

  test('GitHub’s ping is answered with nothing', () => {
    const noted = { kind: 'noted', outcome: 'ok', event: 'ping' };
    expect(parseDelivery('ping', { zen: 'x' })).toMatchObject(noted);
  });

  test.each([
    ['completed', { conclusion: 'success', completedAt: MIDNIGHT }],
    ['in_progress', { conclusion: null, completedAt: null }],
    ['queued', { conclusion: null, completedAt: null }],
  ])('only a completed job has an end: %s', (action, job) => {
    const ended = { conclusion: 'success', completed_at: MIDNIGHT };
    expect(parseJob(ended, 6, { action })).toMatchObject({ job });
  });

  test.each([
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0000-12-31T23:59:59Z', null],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.5Z', null],
    [['2026-01-01T00:00:00Z'], null],
    [0, '1970-01-01T00:00:00.000Z'],
  ])('the instant %j is stored as %j', (created_at, queuedAt) => {
    expect(parseJob({ created_at })).toMatchObject({ job: { queuedAt } });
  });

  test('text that is empty is not given', () => {
    expect(parseJob({ workflow_name: '' })).toMatchObject({ job: { workflowName: null } });
  });

  test('reports a malformed delivery with at most five places', () => {
    const without = parseJob({}, 6, { workflow_job: undefined });
    expect(problemOf(without)).toMatch(/workflow_job payload: workflow_job: /);
    expect(problemOf(parseJob({ id: 'x', run_id: 'x' }))).toMatch(
      /: workflow_job\.id: [^;]+; workflow_job\.run_id: [^;]+$/,
    );
    const texts = { id: 'x', run_id: 'x', run_attempt: 'x' };
    const strange = parseJob({ ...texts, labels: 1, name: 1, head_branch: 1, html_url: 1 });
    expect(problemOf(strange).split(';')).toHaveLength(5);
  });

  test('other errors do not count as a malformed body', () => {
    const trap = Object.defineProperty(example('workflow_job', 6), 'workflow_job', {
      get: () => {
        throw new RangeError('trap');
      },
    });
    expect(() => parseDelivery('workflow_job', trap)).toThrow('trap');
  });

  const corp = { id: 9, slug: 'corp' };
  test.each([
    ['of an enterprise', corp, 'noted'],
    ['without an account', null, 'noted'],
    ['of a nameless account', {}, 'malformed'],
  ])('an installation %s, which has no repositories: %j is %s', (_what, account, kind) => {
    const noted = kind === 'noted' && { outcome: 'ok', installationId: 5 };
    expect(parseInstallation('created', { account })).toMatchObject({ kind, ...noted });
  });

  test('the new name of an enterprise is noted', () => {
    const noted = { kind: 'noted', outcome: 'ok', installationId: 8 };
    expect(parseRenamed(corp, 'Enterprise')).toMatchObject(noted);
  });

  test.each(['Organization', 'User'])(
    'installation_target gives the new name of a %s (A12)',
    (type) => {
      const account = { id: 5, login: 'new-name', updated_at: later };
      expect(parseRenamed(account, type)).toMatchObject({
        kind: 'entity_name',
        event: 'installation_target.renamed',
        name: { entity: { id: 5, login: 'new-name', type }, installationId: 8, statedAt: later },
      });
    },
  );

  test('an event that Paddock does not use is noted with whom it is about', () => {
    const noted = { kind: 'noted', outcome: 'ignored_event', event: 'push' };
    expect(parseDelivery('push', example('push', 0))).toMatchObject(noted);
    const strange = { repository: 'strange', installation: 5, organization: null };
    const nobody = { entity: null, installationId: null, repoId: null };
    expect(parseDelivery('push', strange)).toEqual({ ...noted, ...nobody });
  });
});
