import { describe, expect, test } from '@jest/globals';
import { exceededCaps } from '@paddock/bench/faults/caps';
import { complaintsOf, type Counted } from '@paddock/bench/faults/complaints';
import { complaintsOfOthers } from '@paddock/bench/faults/others';
import { FAULTS } from '@paddock/bench/faults/matrix';
import { SIGNS, type Sign, type Signs } from '@paddock/bench/faults/signs';

const NONE = Object.fromEntries(Object.keys(SIGNS).map((sign) => [sign, 0])) as unknown as Signs;

/** The complaints about a row with 100 jobs. */
const complaints = (wanted: Partial<Signs>, found: Partial<Counted>) =>
  complaintsOf({ signs: wanted, excess: 0 }, 100, {
    signs: { ...NONE, ...wanted },
    callsAgainstWait: 0,
    firstAgainstWait: [],
    excessWorkers: 0,
    unfoundedWorkers: [],
    ...found,
  });

describe('a row of the fault matrix', () => {
  test('every fault but `none` has a sign', () => {
    const signless = FAULTS.filter(({ signs }) =>
      Object.values(signs).every((least) => least === 0),
    );
    expect(signless.map(({ name }) => name)).toEqual(['none']);
  });

  test.each(
    FAULTS.flatMap(({ name, signs: wanted }) =>
      Object.keys(wanted).map((sign) => ({ name, sign: sign as Sign, wanted })),
    ),
  )('$name fails without $sign', ({ sign, wanted }) => {
    const least = wanted[sign] ?? 0;
    expect(complaints(wanted, {})).toEqual([]);
    expect(complaints(wanted, { signs: { ...NONE, ...wanted, [sign]: least - 1 } })).toEqual([
      expect.stringContaining(`${SIGNS[sign]} ${least - 1} instead of ${least} at least`),
    ]);
  });

  test.each<[Partial<Counted>, string]>([
    [{ excessWorkers: 1 }, '1 workers were made in excess, and the fault explains 0'],
    [
      { unfoundedWorkers: ['pdk-a', 'pdk-b'] },
      'no delivery had called for these workers: pdk-a, pdk-b',
    ],
    [
      { callsAgainstWait: 2, firstAgainstWait: ['GET /a', 'GET /b'] },
      '2 calls against a Retry-After: GET /a, GET /b',
    ],
  ])('fails with %j', (found, complaint) => {
    expect(complaints({}, found)).toEqual([complaint]);
  });

  test.each([
    [{ pool: 6, entity: 4 }, 0],
    [{ pool: 7, entity: 4 }, 1],
    [{ pool: 6, entity: 5 }, 1],
  ])('fails above a cap: %j', (most, found) => {
    const caps = { schema: 'environment_1', caps: { pool: 6, entity: 4 } };
    expect(exceededCaps(caps, most)).toHaveLength(found);
  });

  test.each([
    { jobs: 300, without: 4, p99: 6, isLate: false },
    { jobs: 300, without: 4, p99: 6.1, isLate: true },
    { jobs: 12, without: 1, p99: Infinity, isLate: true },
  ])('that hits one, others of $jobs jobs start within $p99 s: late $isLate', (row) => {
    expect(complaintsOfOthers([0.5, row.p99], row.without, row.jobs)).toHaveLength(
      row.isLate ? 1 : 0,
    );
  });
});
