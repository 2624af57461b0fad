import { describe, expect, test } from '@jest/globals';
import { findUnfounded, type Told } from '@paddock/bench/faults/unfounded';
import type { JobTruth, RegistrationTruth, Truth } from '@paddock/simulators/github/control';

const NOON = Date.UTC(2026, 0, 1, 12);
/** So many seconds after noon. */
const at = (seconds: number) => NOON + seconds * 1_000;
const text = (seconds: number) => new Date(at(seconds)).toISOString();

/** Made at the 20th second unless told, decided upon a second earlier. */
const registration = (name: string, more: Partial<RegistrationTruth> = {}): RegistrationTruth => ({
  id: 1,
  name,
  scope: 'acme',
  registeredAt: text(20),
  goneAt: text(60),
  jobIds: [],
  inExcess: true,
  ...more,
});
/** Began at the 10th second. */
const job = (id: number, more: Partial<JobTruth> = {}): JobTruth => ({
  id,
  runId: 1,
  attempt: 1,
  repo: 'acme/shop',
  repositoryId: 1,
  name: 'build',
  labels: [],
  hosted: false,
  status: 'completed',
  conclusion: 'success',
  runnerName: 'another',
  leftQueueAt: text(10),
  killed: false,
  ...more,
});
const unfounded = (registrations: RegistrationTruth[], jobs: JobTruth[], heard: Told['jobs']) => {
  const truth: Truth = { jobs, runners: [], registrations, deliveries: [], calls: {} };
  const decidedAt = new Map(registrations.map(({ name, registeredAt }) => [name, Date.parse(registeredAt) - 1_000]));
  return findUnfounded(truth, { decidedAt, jobs: heard });
};
/** Heard of at the 5th second, and that it had begun at the 30th. */
const LATE = { heardAt: at(5), newsAt: at(30) };

describe('registrations that nothing we had been told called for (P3)', () => {
  test('one for a job that had begun, of which we heard too late, was called for', () => {
    expect(unfounded([registration('a')], [job(7)], new Map([[7, LATE]]))).toEqual([]);
  });

  test.each<[string, Partial<JobTruth>, Partial<typeof LATE>]>([
    ['the news had come before it was decided upon', {}, { newsAt: at(18) }],
    ['the job was not heard of yet', {}, { heardAt: at(19.5) }],
    ['the job still waited at GitHub: it has a runner among the others', { leftQueueAt: text(40) }, {}],
    ['the job never left', { leftQueueAt: null }, {}],
    ['the job is of another scope', { repo: 'mona/dotfiles' }, {}],
  ])('not if %s', (_why, ofJob, heard) => {
    expect(unfounded([registration('a')], [job(7, ofJob)], new Map([[7, { ...LATE, ...heard }]]))).toEqual(['a']);
  });

  test('a job speaks for one at a time', () => {
    const second = registration('b', { registeredAt: text(22) });
    expect(unfounded([registration('a'), second], [job(7)], new Map([[7, LATE]]))).toEqual(['b']);
    expect(unfounded([registration('a', { goneAt: text(21) }), second], [job(7)], new Map([[7, LATE]]))).toEqual([]);
    expect(
      unfounded(
        [registration('a'), second],
        [job(7), job(8)],
        new Map([
          [7, LATE],
          [8, LATE],
        ]),
      ),
    ).toEqual([]);
  });

  test('what is not in excess, or another environment’s, does not count', () => {
    expect(unfounded([registration('a', { inExcess: false })], [], new Map())).toEqual([]);
    const truth: Truth = { jobs: [], runners: [], registrations: [registration('theirs')], deliveries: [], calls: {} };
    expect(findUnfounded(truth, { decidedAt: new Map(), jobs: new Map() })).toEqual([]);
  });
});
