import { describe, expect, test } from '@jest/globals';
import { factsWith, NOW, secondsAgo, workerWith } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';
import type { StartFacts, WaitFacts, WorkerFacts } from './wait-facts.ts';

/** It was 30 s on its way, and began so many seconds ago. */
const started = (ago: number, given: Partial<StartFacts> = {}): StartFacts => ({
  reservedAt: secondsAgo(ago + 30),
  startedAt: secondsAgo(ago),
  endedAt: null,
  ...given,
});
/** Each kept its worker for 240 s. */
const ended = (count: number): StartFacts[] =>
  Array.from({ length: count }, (_, n) => started(1_000 + n, { endedAt: secondsAgo(760 + n) }));
const placed = (position: number): Pick<WaitFacts, 'place'> => ({
  place: { position, of: 9, olderOfEntity: 0, olderOfPool: 0 },
});
const full = {
  reason: 'at_pool_cap',
  caps: [{ kind: 'at_pool_cap', name: 'maxWorkers of the pool linux', used: 2, limit: 2 }],
} as const;
type Given = NonNullable<Parameters<typeof factsWith>[0]>;
const estimate = (given: Given) =>
  explainWait(factsWith({ starts: ended(10), ...placed(1), ...given })).estimate;
const exactly = (seconds: number) => ({ p50Ms: seconds * 1_000, p90Ms: seconds * 1_000 });

describe('the estimate of a start (P5)', () => {
  test('says its numbers, and what they rest on', () => {
    const starts = [...ended(12), started(100), started(140)];
    expect(estimate({ ...full, ...placed(2), starts, workers: [workerWith()] })).toEqual({
      ...exactly(130),
      sentence:
        'It starts in about 2 min 10 s (p50), nine times in ten within 2 min 10 s (p90): 1 job of its queue before it, 2 workers with a job, 1 on the way; its last 12 jobs kept a worker for 4 min (median).',
    });
  });

  test.each<[string, Given, number]>([
    ['its worker is on its way', { workers: [workerWith()] }, 20],
    [
      'its worker is on its way, and others wait for a cap',
      { ...full, workers: [workerWith()] },
      20,
    ],
    ['its worker is made at once', {}, 30],
    ['its worker is made at once, and no pass has seen the key', { key: null }, 30],
    [
      'its worker is made beside one that is stopping',
      { workers: [workerWith({ isStopping: true })] },
      30,
    ],
    ['its worker is made behind another', { ...placed(2), workers: [workerWith()] }, 30],
    ['a place has to become free', { ...full, starts: [...ended(10), started(100)] }, 170],
    [
      'the cap was lowered, and the first to end leaves no place',
      {
        reason: 'at_pool_cap',
        caps: [{ ...full.caps[0], used: 3, limit: 2 }],
        starts: [...ended(10), started(100), started(140), started(20)],
      },
      170,
    ],
    [
      'a worker is stopping',
      {
        ...full,
        starts: [...ended(10), started(100)],
        workers: [workerWith({ isStopping: true })],
      },
      170,
    ],
    [
      'a worker does not start, and another has a job',
      {
        ...full,
        ...placed(2),
        starts: [...ended(10), started(100)],
        workers: [workerWith({ stuckReason: 'image_pull' }), workerWith({ name: 'b' })],
      },
      170,
    ],
    [
      'late deliveries have told of jobs after their workers’ ends',
      {
        starts: ended(10).map((one) =>
          Object.assign({}, one, { reservedAt: NOW, endedAt: one.startedAt }),
        ),
      },
      0.001,
    ],
  ])('is exact where all starts are alike: %s', (_what, given, seconds) => {
    expect(estimate(given)).toMatchObject(exactly(seconds));
  });

  test.each<[Partial<WorkerFacts>, boolean]>([
    [{}, true],
    [{ hasBegunRegistration: true }, true],
    [{ isRegistered: true }, true],
    [{ hasPod: true }, true],
    [{ isRunning: true }, true],
    [{ isRunning: true, isOffline: true }, false],
    [{ isUnschedulable: true }, false],
    [{ stuckReason: 'image_pull' }, false],
  ])('counts on a worker only that can get a job: %j', (given, counts) => {
    const starts = [...ended(10), started(100)];
    const { p50Ms } = estimate({ ...full, starts, workers: [workerWith(given)] }) ?? {};
    expect(p50Ms).toBe(counts ? 20_000 : 170_000);
  });

  test.each(['at_entity_cap', 'at_common_cap', 'at_pool_cap', 'at_repository_cap'])(
    'is given while %s holds its worker back',
    (reason) => {
      const starts = [...ended(10), started(100)];
      expect(estimate({ reason, starts })).toMatchObject(exactly(170));
    },
  );

  test('counts the workers that are made at once, and takes the middle of all lengths', () => {
    const starts = ended(11).map((one, n) =>
      Object.assign({}, one, { endedAt: secondsAgo(760 + ((n * 7) % 11) * 10) }),
    );
    expect(estimate({ ...placed(3), starts, workers: [workerWith()] })?.sentence).toMatch(
      /2 jobs .*, 0 workers with a job, 3 on the way; its last 11 jobs kept a worker for 3 min 20 s/,
    );
  });

  test('looks at the last fifty starts that ended, and those that have jobs', () => {
    const before = Array.from({ length: 40 }, (_, n) =>
      started(9_000 + n, { endedAt: secondsAgo(1) }),
    );
    const starts = [...ended(50), started(100), ...before];
    expect(estimate({ ...full, starts })).toMatchObject({
      ...exactly(170),
      sentence: expect.stringContaining('its last 50 jobs kept'),
    });
  });

  test('gives the middle, and what nine of ten plays stay within', () => {
    const starts = ended(50).map((one, n) =>
      Object.assign({}, one, { reservedAt: new Date(one.startedAt.getTime() - n * 3_000) }),
    );
    expect(estimate({ starts })).toMatchObject({
      p50Ms: 72_000,
      p90Ms: 144_000,
      sentence: expect.stringContaining(
        'It starts in about 1 min 12 s (p50), nine times in ten within 2 min 20 s (p90)',
      ),
    });
  });

  test.each<[string, Given]>([
    ['the pace of its queue does not tell when this ends', { reason: 'pool_failing' }],
    ['the pace of its queue does not tell when this ends', { reason: 'github_budget' }],
    [
      'the pace of its queue does not tell when this ends',
      { reason: 'no_capacity', workers: [workerWith()] },
    ],
    [
      'the pace of its queue does not tell when this ends',
      {
        workers: [workerWith()],
        switches: [{ subject: 'pool:linux', by: 'ada', since: NOW, note: null }],
      },
    ],
    ['it is not among the jobs that wait for workers', { place: null }],
    ['maxWorkers of the pool linux is 0', { ...full, caps: [{ ...full.caps[0], limit: 0 }] }],
    [
      '9 jobs of its queue ended on our workers lately, and fewer than 10 tell nothing',
      { starts: [...ended(9), started(5)] },
    ],
    ['no worker of its queue lives, so it waits for those of others', full],
    [
      'all workers of its queue take longer than its last 10 did',
      {
        ...full,
        starts: [...ended(10), started(300)],
        workers: [workerWith({ createdAt: secondsAgo(31) })],
      },
    ],
  ])('is none: %s', (why, given) => {
    expect(estimate(given)).toEqual({ p50Ms: null, p90Ms: null, sentence: `No estimate: ${why}.` });
  });

  const long = started(1_000, { reservedAt: secondsAgo(1_050), endedAt: secondsAgo(700) });
  const late = workerWith({ createdAt: secondsAgo(31) });
  test.each<[string, StartFacts[], WorkerFacts[]]>([
    ['only those with jobs do', [started(300)], [workerWith()]],
    ['only those on their way do', [started(200)], [late]],
    ['only one of those with jobs does', [started(300), started(200)], []],
    ['only one of those on their way does', [], [late, workerWith()]],
    ['one that ended had its job for longer', [long, started(290)], []],
    ['one that ended was on its way for longer', [long], [late]],
    ['one with a job has had it just as long', [started(240)], []],
    ['one is on its way just as long', [], [workerWith({ createdAt: secondsAgo(30) })]],
  ])('goes on where not all workers take long: %s', (_which, others, workers) => {
    const given = { ...full, starts: [...ended(10), ...others], workers };
    expect(estimate(given)?.p50Ms).toEqual(expect.any(Number));
  });

  test('goes on where one more worker is made', () => {
    const workers = [workerWith({ createdAt: secondsAgo(31) })];
    expect(estimate({ ...placed(2), workers })?.p50Ms).toEqual(expect.any(Number));
  });

  test('is not given for a job that does not wait', () => {
    expect(estimate({ job: { wantsWorker: false, status: 'running' } })).toBeNull();
  });
});
