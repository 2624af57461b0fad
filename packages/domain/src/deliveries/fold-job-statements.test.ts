import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import {
  type DeliveredStatement,
  foldJobStatements,
  splitByRunner,
} from './fold-job-statements.ts';

const statement = (changes: Partial<DeliveredStatement> = {}): DeliveredStatement => ({
  jobId: 1,
  status: 'pending',
  runId: 2,
  runAttempt: 1,
  jobName: 'build',
  workflowName: null,
  htmlUrl: null,
  labels: ['linux'],
  conclusion: null,
  runnerName: null,
  runnerId: null,
  queuedAt: '2026-01-01T00:00:00.000Z',
  startedAt: null,
  completedAt: null,
  entity: { id: 3, login: 'acme', type: 'Organization' },
  repoId: 4,
  repoFullName: 'acme/api',
  isPublic: false,
  installationId: null,
  appId: 5,
  deliveryGuid: 'a',
  ...changes,
});

const end = (second: number, conclusion: string, deliveryGuid: string) =>
  statement({
    status: 'completed',
    conclusion,
    completedAt: `2026-01-01T00:01:0${second}.000Z`,
    deliveryGuid,
  });

const instants = ['2026-01-01T00:00:10.000Z', '2026-01-01T00:00:20.000Z'];
/** Statements of a few jobs, each delivery with a GUID of its own, as GitHub's are. */
const statements = fc
  .array(
    fc.record({
      jobId: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom('pending' as const, 'running' as const, 'completed' as const),
      startedAt: fc.constantFrom(null, ...instants),
      runnerName: fc.constantFrom(null, 'one', 'two'),
      conclusion: fc.constantFrom(null, 'success'),
      installationId: fc.constantFrom(null, 6),
      workflowName: fc.constantFrom(null, 'CI'),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((list) =>
    list.map((changes, index) => statement({ ...changes, deliveryGuid: `guid-${index}` })),
  );

describe('foldJobStatements', () => {
  test.each([
    [
      'the later is known',
      [end(5, 'success', 'b'), end(3, 'failure', 'a')],
      '2026-01-01T00:01:03.000Z',
      'failure',
    ],
    [
      'one does not say when',
      [{ ...end(5, 'failure', 'a'), completedAt: null }, end(9, 'success', 'b')],
      '2026-01-01T00:01:09.000Z',
      'success',
    ],
    [
      'the other does not say when',
      [end(9, 'success', 'a'), { ...end(5, 'failure', 'b'), completedAt: null }],
      '2026-01-01T00:01:09.000Z',
      'success',
    ],
    [
      'both were at one instant',
      [end(5, 'success', 'a'), end(5, 'failure', 'b')],
      '2026-01-01T00:01:05.000Z',
      'failure',
    ],
    [
      'the first has no conclusion',
      [{ ...end(3, '', 'a'), conclusion: null }, end(5, 'failure', 'b')],
      '2026-01-01T00:01:03.000Z',
      'failure',
    ],
    [
      'one is only said to run',
      [
        statement({ status: 'running', completedAt: '2026-01-01T00:00:00.000Z' }),
        end(5, 'success', 'b'),
      ],
      '2026-01-01T00:01:05.000Z',
      'success',
    ],
  ])('of two ends the earlier counts, where %s', (_, ends, completedAt, conclusion) => {
    expect(foldJobStatements(ends)).toMatchObject([{ completedAt, conclusion }]);
    expect(foldJobStatements(ends.toReversed())).toMatchObject([{ completedAt, conclusion }]);
  });

  test('gives each job once, sorted by id, whatever the order and the doubling (B6)', () => {
    const shuffled = statements.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([list, mixed]) => {
        const folded = foldJobStatements(list);
        expect(foldJobStatements(mixed)).toEqual(folded);
        expect(folded.map(({ jobId }) => jobId)).toEqual(
          [...new Set(list.map(({ jobId }) => jobId))].toSorted((a, b) => a - b),
        );
      }),
    );
  });

  test('folding twice is folding once', () => {
    fc.assert(
      fc.property(statements, (list) => {
        expect(foldJobStatements(foldJobStatements(list))).toEqual(foldJobStatements(list));
      }),
    );
  });

  test('the furthest status counts, filled in with what only the others say', () => {
    const queued = statement({ workflowName: 'CI', installationId: 6, deliveryGuid: 'z' });
    const running = statement({
      status: 'running',
      runnerName: 'one',
      runnerId: 7,
      startedAt: '2026-01-01T00:00:10.000Z',
      deliveryGuid: 'y',
    });
    const completed = statement({
      status: 'completed',
      conclusion: 'success',
      queuedAt: null,
      deliveryGuid: 'x',
    });
    expect(foldJobStatements([queued, completed, running])).toEqual([
      statement({
        status: 'completed',
        conclusion: 'success',
        workflowName: 'CI',
        installationId: 6,
        runnerName: 'one',
        runnerId: 7,
        startedAt: '2026-01-01T00:00:10.000Z',
        deliveryGuid: 'z',
      }),
    ]);
  });

  test('of two runs the later start names the runner, and its id goes with its name', () => {
    const early = statement({
      status: 'running',
      runnerName: 'one',
      runnerId: 7,
      startedAt: '2026-01-01T00:00:10.000Z',
    });
    const late = statement({
      status: 'running',
      runnerName: 'two',
      runnerId: null,
      startedAt: '2026-01-01T00:00:20.000Z',
      deliveryGuid: 'b',
    });
    expect(foldJobStatements([early, late])).toMatchObject([
      { runnerName: 'two', runnerId: null, startedAt: '2026-01-01T00:00:20.000Z' },
    ]);
  });

  test('of two ends the earlier one counts, with its conclusion (A6)', () => {
    const first = end(1, 'failure', 'z');
    expect(foldJobStatements([end(2, 'success', 'a'), first])).toMatchObject([
      { conclusion: 'failure', completedAt: first.completedAt },
    ]);
  });

  test('of two Apps that tell of one job the first by its id counts, with its own installation', () => {
    const one = statement({ appId: 6, installationId: 60, status: 'running', deliveryGuid: 'a' });
    const other = statement({ appId: 5, installationId: 50, deliveryGuid: 'b' });
    expect(foldJobStatements([one, other])).toMatchObject([
      { appId: 5, installationId: 50, status: 'running' },
    ]);
  });
});

describe('splitByRunner', () => {
  test('no job has two runners in a round, and nothing is lost or doubled (B7)', () => {
    fc.assert(
      fc.property(statements, (list) => {
        const rounds = splitByRunner(list);
        for (const round of rounds) {
          for (const ofJob of Map.groupBy(round, ({ jobId }) => jobId).values()) {
            expect(
              new Set(ofJob.flatMap(({ runnerName }) => runnerName ?? [])).size,
            ).toBeLessThanOrEqual(1);
          }
        }
        expect(new Set(rounds.flat())).toEqual(new Set(list));
        expect(rounds.flat()).toHaveLength(list.length);
      }),
    );
  });

  test('there is one round as long as each job has one runner (B6)', () => {
    const list = [
      statement(),
      statement({ runnerName: 'one' }),
      statement({ jobId: 2, runnerName: 'two' }),
    ];
    expect(splitByRunner(list)).toEqual([list]);
  });
});
