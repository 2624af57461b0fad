import { describe, expect, test } from '@jest/globals';
import { findUnfounded, type Knowledge } from '@paddock/bench/faults/unfounded';
import type { JobTruth, RegistrationTruth } from '@paddock/simulators/github/control';

const registration = (name: string, scope = 'acme'): RegistrationTruth => ({
  id: 1,
  name,
  scope,
  registeredAt: '2026-01-01T12:00:20Z',
  goneAt: null,
  jobIds: [],
  inExcess: false,
});
const job = (id: number, repo = 'acme/shop'): JobTruth => ({
  id,
  runId: 1,
  attempt: 1,
  repo,
  repositoryId: 1,
  name: 'build',
  labels: [],
  hosted: false,
  status: 'completed',
  conclusion: 'success',
  runnerName: 'another',
  leftQueueAt: null,
  killed: false,
});
type Heard = Knowledge['jobs'] extends ReadonlyMap<number, infer T> ? T : never;
/** Known before the decisions for the workers; its beginning is known long after. */
const WAITING: Heard = { heardAt: 5_000, newsAt: 90_000 };

interface Scene {
  readonly registrations: readonly RegistrationTruth[];
  readonly jobs: readonly (readonly [JobTruth, Heard | undefined])[];
  /** Workers that do not count from this instant on. */
  readonly spareUntil?: Readonly<Record<string, number>>;
}

/** The decisions for the workers are at the seconds 10, 20 and so on. */
function unfounded({ registrations, jobs, spareUntil = {} }: Scene): string[] {
  return findUnfounded(
    { jobs: jobs.map(([one]) => one), runners: [], registrations, deliveries: [], calls: {} },
    {
      workers: new Map(
        registrations.map(({ name }, index) => [
          name,
          {
            begunAt: 10_000 * (index + 1) - 1_000,
            decidedAt: 10_000 * (index + 1),
            spareUntil: spareUntil[name] ?? Infinity,
          },
        ]),
      ),
      jobs: new Map(
        jobs.flatMap(([{ id }, heard]) => (heard === undefined ? [] : [[id, heard] as const])),
      ),
    },
  );
}

describe('workers that no known job called for (P3)', () => {
  test('one for a job that waited, by our knowledge, was called for', () => {
    expect(unfounded({ registrations: [registration('a')], jobs: [[job(7), WAITING]] })).toEqual(
      [],
    );
    expect(
      unfounded({
        registrations: [registration('a')],
        jobs: [[job(7), { heardAt: 10_000, newsAt: 9_500 }]],
      }),
    ).toEqual([]);
  });

  test.each<[string, JobTruth, Heard | undefined]>([
    ['the news had come before it was decided upon', job(7), { heardAt: 5_000, newsAt: 7_000 }],
    ['the job was not known yet', job(7), { heardAt: 11_000, newsAt: 90_000 }],
    ['the job was never known', job(7), undefined],
    ['the job is of another scope', job(7, 'mona/dotfiles'), WAITING],
  ])('not if %s', (_why, one, heard) => {
    expect(unfounded({ registrations: [registration('a')], jobs: [[one, heard]] })).toEqual(['a']);
  });

  test('a job calls for one at a time', () => {
    const registrations = [registration('a'), registration('b')];
    expect(unfounded({ registrations, jobs: [[job(7), WAITING]] })).toEqual(['b']);
    expect(
      unfounded({ registrations, jobs: [[job(7), WAITING]], spareUntil: { a: 19_000 } }),
    ).toEqual([]);
    const two = [[job(7), WAITING] as const, [job(8), WAITING] as const];
    expect(unfounded({ registrations, jobs: two })).toEqual([]);
  });

  test('one is too many although GitHub has jobs for it that we did not know', () => {
    const registrations = [registration('a'), { ...registration('b'), jobIds: [8] }];
    expect(
      unfounded({
        registrations,
        jobs: [
          [job(7), WAITING],
          [job(8), undefined],
        ],
      }),
    ).toEqual(['b']);
  });

  test('each scope has its own', () => {
    const registrations = [registration('a'), registration('b', 'mona/dotfiles')];
    expect(
      unfounded({
        registrations,
        jobs: [
          [job(7), WAITING],
          [job(8, 'mona/dotfiles'), WAITING],
        ],
      }),
    ).toEqual([]);
  });

  test('another environment’s do not count', () => {
    const truth = {
      jobs: [],
      runners: [],
      registrations: [registration('theirs')],
      deliveries: [],
      calls: {},
    };
    expect(findUnfounded(truth, { workers: new Map(), jobs: new Map() })).toEqual([]);
  });
});
