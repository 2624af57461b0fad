import { describe, expect, test } from '@jest/globals';
import type { Fault } from '@paddock/bench/faults/fault';
import { complaintsOf, complaintsOfOthers } from '@paddock/bench/faults/judge';
import { FAULTS } from '@paddock/bench/faults/matrix';

type Counted = Parameters<typeof complaintsOf>[2];

const NONE = Object.fromEntries(
  FAULTS.flatMap(({ signs }) => Object.keys(signs)).map((sign) => [sign, 0]),
) as Counted['signs'];

/**
 * They hold back no job that is known, or by chance: what is not delivered is not known, and a job waits for a
 * process that comes back, or for PostgreSQL, without a reason. In `everything` several do at once.
 */
const UNNAMED = [
  'none',
  'none-for-an-hour',
  'events-never-sent',
  'deliveries-lost',
  'deliveries-doubled-and-shuffled',
  'in-progress-lost',
  'completed-lost',
  'ingress-down',
  'wrong-secret',
  'postgres-restarts',
  'postgres-goes-silent',
  'postgres-goes-silent-and-another-answers',
  'services-killed',
  'busy-lies',
  'busy-lies-about-unheard-jobs',
  'runs-of-one-fail',
  'another-controller',
  'two-environments',
  'jobs-cancelled',
  'everything',
];

/** The complaints about a row with 100 jobs. */
const complaints = (wanted: Fault['signs'], found: Partial<Counted>) =>
  complaintsOf({ signs: wanted, excess: 0 } as Fault, 100, {
    signs: { ...NONE, ...wanted },
    callsAgainstWait: 0,
    firstAgainstWait: [],
    excessWorkers: 0,
    ...found,
  });

describe('a row of the fault matrix', () => {
  test('every fault but `none…` has a sign', () => {
    const signless = FAULTS.filter(({ signs }) =>
      Object.values(signs).every((least) => least === 0),
    );
    expect(signless.map(({ name }) => name)).toEqual(['none', 'none-for-an-hour']);
  });

  test('the board names every cause that holds back known jobs, and is one', () => {
    const silent = FAULTS.filter(({ board }) => board === undefined);
    expect(silent.map(({ name }) => name)).toEqual(UNNAMED);
  });

  test.each(FAULTS)('$name fails without each of its signs', ({ signs }) => {
    expect(complaints(signs, {})).toEqual([]);
    for (const [sign, least] of Object.entries(signs))
      expect(complaints(signs, { signs: { ...NONE, ...signs, [sign]: least - 1 } })).toEqual([
        expect.stringContaining(`${least - 1} instead of ${least} at least`),
      ]);
  });

  test.each<[Partial<Counted>, string]>([
    [{ excessWorkers: 1 }, '1 workers were made in excess, and the fault explains 0'],
    [
      { callsAgainstWait: 2, firstAgainstWait: ['GET /a', 'GET /b'] },
      '2 calls against a Retry-After: GET /a, GET /b',
    ],
  ])('fails with %j', (found, complaint) => {
    expect(complaints({}, found)).toEqual([complaint]);
  });

  test.each([
    { jobs: 300, without: 4, p99: 6, isLate: false },
    { jobs: 300, without: 4, p99: 6.1, isLate: true },
    { jobs: 12, without: 1, p99: Infinity, isLate: true },
  ])('that hits one, others of $jobs jobs start within $p99 s: late $isLate', (row) => {
    const found = complaintsOfOthers([0.5, row.p99], row.without, row.jobs);
    expect(found).toHaveLength(row.isLate ? 1 : 0);
  });
});
