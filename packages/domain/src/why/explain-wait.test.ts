import { describe, expect, test } from '@jest/globals';
import { factsWith, secondsAgo, workerWith } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';
import type { JobFacts, SwitchFacts, WorkerFacts } from './wait-facts.ts';
import type { WorkerState } from './worker-progress.ts';

const begun = { hasBegunRegistration: true };
const registered = { ...begun, isRegistered: true };
const ready = { ...registered, hasPod: true, isRunning: true };
const unplaced = { hasPod: true, isUnschedulable: true };
const STUCK = 'its pod does not start, or does not go';
const OFFLINE = 'its pod runs, and GitHub calls its runner offline';
const stuck = {
  name: 'pd-linux-9',
  hasPod: true,
  stuckReason: 'image_pull',
  diagnosis: 'ErrImagePull: ghcr.io/acme/runner:2',
};
const first = { place: { position: 1, of: 3, olderOfEntity: 4, olderOfPool: 5 } };
const fullPool = {
  reason: 'at_pool_cap',
  caps: [{ kind: 'at_pool_cap', name: 'maxWorkers of the pool linux', used: 1, limit: 1 }],
} as const;
const held = (given: Partial<SwitchFacts> = {}): SwitchFacts => ({
  subject: 'pool:linux',
  by: 'ada',
  since: secondsAgo(60),
  note: null,
  ...given,
});

const UNREAD = { excess: null, visibility: null, workflows: null };
const REVIEW = { ...UNREAD, name: 'review', lacksRepository: true };

describe('a waiting job (P5)', () => {
  test('is told at once that its runner group does not admit its repository, beside a cap', () => {
    const given = { ...first, reason: 'at_pool_cap', group: REVIEW, workers: [workerWith(ready)] };
    expect(explainWait(factsWith(given))).toMatchObject({
      actor: 'platform',
      sentence:
        'The runner group review of acme does not admit the repository acme/api: GitHub gives no runner there a job of it.',
    });
  });

  test('is told so since it waits, as far as that is known', () => {
    const sinceOf = (job: object) =>
      explainWait(factsWith({ key: null, group: REVIEW, job })).since;
    expect(explainWait(factsWith({ group: REVIEW })).since).toEqual(secondsAgo(120));
    expect([sinceOf({}), sinceOf({ queuedAt: null })]).toEqual([secondsAgo(300), secondsAgo(299)]);
  });

  test('a reason that is no limit comes before its runner group', () => {
    const { sentence } = explainWait(factsWith({ ...first, reason: 'pool_paused', group: REVIEW }));
    expect(sentence).toBe('The configuration has paused the pool linux.');
  });

  test.each<[WorkerState, Partial<WorkerFacts>, string]>([
    ['reserved', {}, 'is on its way: its registration has not begun'],
    ['registering', begun, 'is on its way: GitHub is asked to register it'],
    ['registered', registered, 'is on its way: it is registered, and its pod is being made'],
    ['starting', { hasPod: true }, 'is on its way: its pod is starting'],
    ['offline', { ...ready, isOffline: true }, `cannot take it: ${OFFLINE}`],
    ['no_node', unplaced, 'is on its way: no node takes its pod'],
    [
      'no_node',
      { ...unplaced, stuckReason: 'unschedulable' },
      'is on its way: no node takes its pod (unschedulable)',
    ],
    ['stuck', { hasPod: true, stuckReason: 'image_pull' }, `is stuck: ${STUCK} (image_pull)`],
    ['stuck', { ...ready, stuckReason: 'terminating' }, `is stuck: ${STUCK} (terminating)`],
  ])('waits for its worker that is %s: %j', (state, given, words) => {
    const worker = { name: 'pd-linux-1', state, detail: expect.any(String), ageMs: 10_000 };
    const isFault = state === 'no_node' || state === 'stuck';
    expect(explainWait(factsWith({ ...first, workers: [workerWith(given)] }))).toEqual({
      state: 'waiting',
      reason: null,
      since: secondsAgo(10),
      actor: isFault ? 'platform' : 'wait',
      sentence: `Its worker pd-linux-1 ${words}.`,
      advice: expect.stringMatching(isFault ? /^(?:Add|Look)/ : /^Nothing/),
      place: first.place,
      lastStarts: { jobs: 50, medianMs: 90_000 },
      workers: [worker],
      caps: [],
      earlier: [],
    });
  });

  test('waits for GitHub where its worker is ready', () => {
    expect(explainWait(factsWith({ ...first, workers: [workerWith(ready)] }))).toMatchObject({
      since: secondsAgo(10),
      actor: 'wait',
      sentence:
        'The worker pd-linux-1 is ready for it: GitHub has given it no job yet, or its delivery is on its way.',
      advice: expect.stringMatching(/^Nothing/),
    });
  });

  const limits = ['entity_cap', 'common_cap', 'pool_cap', 'repository_cap'].map(
    (cap) => `at_${cap}`,
  );
  test.each([...limits, 'github_budget'])(
    'waits for its worker while %s holds back others',
    (reason) => {
      const workers = [workerWith({ hasPod: true })];
      expect(explainWait(factsWith({ reason, ...first, workers }))).toMatchObject({
        reason: null,
        sentence: 'Its worker pd-linux-1 is on its way: its pod is starting.',
      });
    },
  );

  test('expects the worker of its place: others have the readier ones', () => {
    const workers = [workerWith(stuck), workerWith(ready)];
    expect(explainWait(factsWith({ workers }))).toMatchObject({
      actor: 'platform',
      sentence:
        'Its worker pd-linux-9 is stuck: its pod does not start, or does not go (image_pull: ErrImagePull: ghcr.io/acme/runner:2).',
    });
  });

  test('names the worker that keeps its place under a cap and does not start', () => {
    expect(explainWait(factsWith({ ...fullPool, workers: [workerWith(stuck)] }))).toMatchObject({
      reason: 'at_pool_cap',
      actor: 'platform',
      sentence:
        'maxWorkers of the pool linux is 1, and 1 worker is there. 1 of its workers does not start: pd-linux-9, its pod does not start, or does not go (image_pull: ErrImagePull: ghcr.io/acme/runner:2).',
      advice: 'Find out why pd-linux-9 does not start.',
    });
  });

  test('names the first of several workers that do not start, and counts no others', () => {
    const workers = [
      workerWith(stuck),
      workerWith({ name: 'pd-linux-8', hasPod: true, isUnschedulable: true }),
      workerWith(ready),
    ];
    const place = { ...first.place, position: 4 };
    expect(explainWait(factsWith({ ...fullPool, place, workers }))).toMatchObject({
      reason: 'at_pool_cap',
      sentence:
        'maxWorkers of the pool linux is 1, and 1 worker is there. 2 of its workers do not start: pd-linux-8, no node takes its pod.',
    });
  });

  test('gets no worker that is stopping', () => {
    const workers = [workerWith({ ...ready, isStopping: true })];
    expect(explainWait(factsWith({ ...fullPool, ...first, workers })).reason).toBe('at_pool_cap');
  });

  test('gets its worker with the next pass', () => {
    const answer = {
      actor: 'wait',
      sentence: 'The scheduler makes its worker with one of its next passes.',
      advice: 'Nothing.',
    };
    expect(explainWait(factsWith())).toMatchObject({ ...answer, since: secondsAgo(300) });
    expect(explainWait(factsWith({ job: { queuedAt: null } }))).toMatchObject({
      ...answer,
      since: secondsAgo(299),
    });
    expect(explainWait(factsWith({ place: null, workers: [workerWith(ready)] }))).toMatchObject(
      answer,
    );
    // Known for long, and waiting again since then.
    const changedAt = secondsAgo(60);
    expect(explainWait(factsWith({ key: null, job: { changedAt } }))).toMatchObject(answer);
  });

  test('that no scheduler has seen for long says so', () => {
    expect(explainWait(factsWith({ key: null }))).toMatchObject({
      actor: 'platform',
      since: secondsAgo(299),
      sentence: 'No scheduler has seen for 299 s that the job waits.',
    });
  });

  test('names a person’s stop before every other reason, with the note and the workers that go on', () => {
    const workers = [workerWith(), workerWith(ready), workerWith(ready)];
    const switches = [held({ note: 'new image.' }), held({ subject: 'environment', by: 'bob' })];
    expect(explainWait(factsWith({ ...fullPool, ...first, workers, switches }))).toMatchObject({
      reason: 'making_stopped',
      actor: 'platform',
      since: secondsAgo(60),
      sentence:
        'ada stopped the making of workers for the pool linux at 2026-01-31T09:59:00Z (“new image”); bob stopped the making of workers for everything at 2026-01-31T09:59:00Z. 2 workers made before may still run it.',
      advice: 'Ask ada and bob, then resume the making of workers.',
    });
    expect(explainWait(factsWith({ switches: [held({ subject: 'entity:1' })] })).sentence).toBe(
      'ada stopped the making of workers for acme at 2026-01-31T09:59:00Z.',
    );
  });
});

describe('a job that waits no longer (P5)', () => {
  const none = { reason: null, place: null, lastStarts: null, workers: [], caps: [], earlier: [] };
  const gone = { ...none, actor: null, advice: 'Nothing.' };
  const at = secondsAgo(60);

  test.each<[Partial<JobFacts>, string]>([
    [
      { podName: 'pd-linux-1', runnerName: 'pd-linux-1', startedAt: at },
      ' on our worker pd-linux-1 since 2026-01-31T09:59:00Z',
    ],
    [
      { runnerName: 'mine', startedAt: at },
      ' on mine, a runner of others, since 2026-01-31T09:59:00Z',
    ],
    [{ startedAt: at }, ' since 2026-01-31T09:59:00Z'],
    [{ podName: 'pd-linux-1' }, ' on our worker pd-linux-1'],
  ])('runs: %j', (runner, words) => {
    const job = { startedAt: null, ...runner, status: 'running', wantsWorker: false } as const;
    const said = { state: 'running', since: job.startedAt, sentence: `It runs${words}.` };
    expect(explainWait(factsWith({ job }))).toEqual({ ...gone, ...said });
  });

  test.each<[Partial<JobFacts>, string]>([
    [
      { conclusion: 'success', completedAt: at },
      ' at 2026-01-31T09:59:00Z with the conclusion success',
    ],
    [
      { status: 'failed', failure: 'GitHub no longer knows the job' },
      ': GitHub no longer knows the job',
    ],
    [{}, ''],
  ])('has ended: %j', (given, words) => {
    const job = { status: 'completed', completedAt: null, wantsWorker: false, ...given } as const;
    const said = { state: 'ended', since: job.completedAt, sentence: `It ended${words}.` };
    expect(explainWait(factsWith({ job }))).toEqual({ ...gone, ...said });
  });

  test('is in doubt while GitHub is asked about it', () => {
    expect(explainWait(factsWith({ job: { wantsWorker: false } }))).toEqual({
      ...gone,
      state: 'in_doubt',
      since: secondsAgo(299),
      actor: 'wait',
      sentence: expect.stringMatching(/GitHub is asked whether it is still queued\.$/),
      advice: expect.stringMatching(/^Nothing/),
    });
  });

  test('is held while GitHub hides its repository, and somebody can act', () => {
    const hiddenSince = secondsAgo(700);
    expect(explainWait(factsWith({ job: { wantsWorker: false, hiddenSince } }))).toEqual({
      ...gone,
      state: 'held',
      reason: 'repository_hidden',
      since: hiddenSince,
      actor: 'platform',
      sentence: expect.stringContaining('has not shown the repository acme/api to the App since'),
      advice: expect.stringContaining('Select the repository in the App’s installation on acme'),
    });
  });

  test('waits again once GitHub calls it queued, whatever its row said', () => {
    const job = { status: 'running', wantsWorker: true } as const;
    expect(explainWait(factsWith({ job, ...fullPool }))).toMatchObject({
      state: 'waiting',
      reason: 'at_pool_cap',
    });
  });
});

const endedWith = (conclusion: string | null) =>
  explainWait(
    factsWith({
      job: {
        status: 'completed',
        wantsWorker: false,
        conclusion,
        podName: 'pd-linux-1',
        workerFailure: 'container runner ended with exit code 137 (OOMKilled).',
      },
    }),
  );

describe('a job whose worker failed', () => {
  test.each(['failure', 'cancelled', null])(
    'names it, where it ended with %s (G4)',
    (conclusion) => {
      expect(endedWith(conclusion)).toMatchObject({
        state: 'ended',
        actor: 'platform',
        sentence: expect.stringMatching(
          /\. Its worker pd-linux-1 failed: container runner ended with exit code 137 \(OOMKilled\)\.$/,
        ),
        advice: expect.stringContaining('the worker pd-linux-1'),
      });
    },
  );

  test('does not blame it once it had succeeded', () => {
    expect(endedWith('success')).toMatchObject({
      actor: null,
      sentence: 'It ended with the conclusion success.',
    });
  });
});

test('names the worker that keeps its place under the cap and does not go, before any that does not start (P5)', () => {
  const keepers = ['pdk-1', 'pdk-2'].map((name, nth) => ({
    name,
    entityId: 90_000_001,
    pool: 'linux',
    scopeRepoId: 0,
    heldBy: 'its pod is being deleted, and is still there.',
    since: secondsAgo(600 - nth),
  }));
  const caps = [{ ...fullPool.caps[0], held: keepers }];
  expect(
    explainWait(factsWith({ reason: 'at_pool_cap', caps, workers: [workerWith(stuck)] })),
  ).toMatchObject({
    reason: 'at_pool_cap',
    actor: 'platform',
    sentence:
      'maxWorkers of the pool linux is 1, and 1 worker is there. 2 of them do not go: pdk-1 since 2026-01-31T09:50:00Z, because its pod is being deleted, and is still there.',
    advice: 'Look at the worker pdk-1: its pod, its node and its log.',
    caps: [{ name: 'maxWorkers of the pool linux', used: 1, limit: 1 }],
  });
  // Another cap holds nothing back.
  expect(explainWait(factsWith({ reason: 'github_budget', caps })).sentence).not.toContain('pdk-1');
});
