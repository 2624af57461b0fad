import { describe, expect, test } from '@jest/globals';
import { factsWith, secondsAgo, workerWith } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';
import type { StopFacts, WorkerFacts } from './wait-facts.ts';
import { workerState } from './worker-progress.ts';

const ready = { hasBegunRegistration: true, isRegistered: true, hasPod: true, isRunning: true };
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
const stop = (given: Partial<StopFacts> = {}): StopFacts => ({
  type: 'pool',
  by: 'ada',
  at: secondsAgo(60),
  note: null,
  ...given,
});

test.each<[string, Partial<WorkerFacts>]>([
  ['reserved', {}],
  ['registering', { hasBegunRegistration: true }],
  ['registered', { hasBegunRegistration: true, isRegistered: true }],
  ['starting', { hasPod: true }],
  ['ready', ready],
  ['offline', { ...ready, isOffline: true }],
  ['no_node', { hasPod: true, isUnschedulable: true }],
  ['stuck', stuck],
  ['stuck', { ...ready, stuckReason: 'terminating' }],
  ['stopping', { ...ready, isStopping: true }],
])('a worker is %s (P5)', (state, given) => {
  expect(workerState(workerWith(given))).toBe(state);
});

describe('a waiting job (P5)', () => {
  test('shows its place, its key’s workers with the readiest first, and its caps', () => {
    const { place, workers, caps } = explainWait(
      factsWith({
        ...fullPool,
        ...first,
        workers: [
          workerWith(stuck),
          workerWith(ready),
          workerWith({ name: 'b', isStopping: true }),
        ],
      }),
    );
    expect(place).toEqual(first.place);
    expect(workers.map(({ name, state, ageMs }) => [name, state, ageMs])).toEqual([
      ['pd-linux-1', 'ready', 10_000],
      ['pd-linux-9', 'stuck', 10_000],
      ['b', 'stopping', 10_000],
    ]);
    expect(caps).toEqual([{ name: 'maxWorkers of the pool linux', used: 1, limit: 1 }]);
  });

  test('waits for GitHub if a worker is ready for it', () => {
    expect(explainWait(factsWith({ ...first, workers: [workerWith(ready)] }))).toMatchObject({
      reason: null,
      actor: 'wait',
      sentence:
        'The worker pd-linux-1 is ready for it: GitHub has given it no job yet, or its delivery is on its way.',
    });
  });

  test('does not wait for a runner that GitHub calls offline without saying so', () => {
    const workers = [workerWith({ ...ready, isOffline: true })];
    expect(explainWait(factsWith({ ...first, workers })).sentence).toBe(
      'Its worker pd-linux-1 cannot take it: its pod runs, and GitHub calls its runner offline.',
    );
  });

  test('waits for its worker, even while a cap holds back others', () => {
    expect(
      explainWait(factsWith({ ...fullPool, ...first, workers: [workerWith({ hasPod: true })] })),
    ).toMatchObject({
      reason: null,
      actor: 'wait',
      since: secondsAgo(10),
      sentence: 'Its worker pd-linux-1 is on its way: its pod is starting.',
    });
  });

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

  test('shows what it waited for before', () => {
    const earlier = [{ reason: 'pool_paused', since: secondsAgo(250), until: secondsAgo(120) }];
    expect(explainWait(factsWith({ ...fullPool, earlier })).earlier).toBe(earlier);
  });

  test('gets no worker that is stopping', () => {
    const workers = [workerWith({ ...ready, isStopping: true })];
    expect(explainWait(factsWith({ ...fullPool, ...first, workers })).reason).toBe('at_pool_cap');
  });

  test('gets its worker with the next pass', () => {
    const sentence = 'The scheduler makes its worker with one of its next passes.';
    // Known for long, and waiting again since then.
    const changedAt = secondsAgo(5);
    expect(explainWait(factsWith())).toMatchObject({ actor: 'wait', sentence });
    expect(explainWait(factsWith({ key: null, job: { changedAt } }))).toMatchObject({ sentence });
  });

  test('that no scheduler has seen for long says so', () => {
    expect(explainWait(factsWith({ key: null }))).toMatchObject({
      actor: 'platform',
      since: secondsAgo(299),
      sentence: 'No scheduler has seen for 299 s that the job waits.',
    });
  });

  test('names a person’s stop before every other reason, with the note and the workers that go on', () => {
    const workers = [workerWith(), workerWith(ready)];
    const stops = [stop({ note: 'new image.' }), stop({ type: 'environment', by: 'bob' })];
    expect(explainWait(factsWith({ ...fullPool, ...first, workers, stops }))).toMatchObject({
      reason: 'making_stopped',
      actor: 'platform',
      since: secondsAgo(60),
      sentence:
        'ada stopped the making of workers for the pool linux at 2026-01-31T09:59:00Z (“new image”); bob stopped the making of workers for everything at 2026-01-31T09:59:00Z. 1 worker made before may still run it.',
      advice: 'Ask ada and bob, then resume the making of workers.',
    });
    expect(explainWait(factsWith({ stops: [stop({ type: 'entity' })] })).sentence).toBe(
      'ada stopped the making of workers for acme at 2026-01-31T09:59:00Z.',
    );
  });
});

describe('a job that waits no longer (P5)', () => {
  const gone = { reason: null, actor: null, place: null, workers: [] };
  test.each([
    [
      'our worker',
      { podName: 'pd-linux-1', runnerName: 'pd-linux-1' },
      ' on our worker pd-linux-1',
    ],
    ['another runner', { runnerName: 'mine' }, ' on mine, a runner of others,'],
    ['an unknown runner', {}, ''],
  ])('runs on %s', (_which, runner, words) => {
    const job = { ...runner, status: 'running', wantsWorker: false, startedAt: secondsAgo(60) };
    const sentence = `It runs${words} since 2026-01-31T09:59:00Z.`;
    expect(explainWait(factsWith({ job: { ...job, status: 'running' } }))).toMatchObject({
      ...gone,
      state: 'running',
      since: secondsAgo(60),
      sentence,
    });
  });

  test.each([
    [{ status: 'completed', conclusion: 'success' }, ' with the conclusion success'],
    [
      { status: 'failed', failure: 'GitHub no longer knows the job' },
      ': GitHub no longer knows the job',
    ],
  ] as const)('has ended: %j', (given, words) => {
    const job = { ...given, wantsWorker: false, completedAt: secondsAgo(60) };
    expect(explainWait(factsWith({ job }))).toMatchObject({
      ...gone,
      state: 'ended',
      sentence: `It ended at 2026-01-31T09:59:00Z${words}.`,
    });
  });

  test('is in doubt while GitHub is asked about it', () => {
    expect(explainWait(factsWith({ job: { wantsWorker: false } }))).toMatchObject({
      state: 'in_doubt',
      actor: 'wait',
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
