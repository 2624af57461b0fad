import { describe, expect, test } from '@jest/globals';
import { exceededCaps } from '@paddock/bench/faults/caps';
import { complaintsOf, type Counted } from '@paddock/bench/faults/complaints';
import { complaintsOfOthers, othersStarts } from '@paddock/bench/faults/others';
import { FAULTS } from '@paddock/bench/faults/matrix';
import { SIGNS, type Sign, type Signs } from '@paddock/bench/faults/signs';

const signs = (seen: Partial<Signs> = {}): Signs => ({
  ...(Object.fromEntries(Object.keys(SIGNS).map((sign) => [sign, 0])) as Record<Sign, number>),
  ...seen,
});

const counted = (more: Partial<Counted> = {}): Counted => ({
  signs: signs(),
  callsAgainstWait: 0,
  firstAgainstWait: [],
  excessWorkers: 0,
  unfoundedWorkers: [],
  ...more,
});

/** Of a fault with no signs to show, played with 100 jobs. */
const complaints = (more: Partial<Counted>, excess?: number) =>
  complaintsOf({ signs: {}, ...(excess === undefined ? {} : { excess }) }, 100, counted(more));

describe('a row of the fault matrix', () => {
  test('complains of nothing where the fault struck and all went as it has to', () => {
    expect(
      complaintsOf(
        { signs: { runnersDied: 1 } },
        100,
        counted({ signs: signs({ runnersDied: 1 }) }),
      ),
    ).toEqual([]);
  });

  test.each(
    FAULTS.flatMap(({ name, signs: wanted }) =>
      Object.keys(wanted).map((sign) => ({ name, sign: sign as Sign, wanted })),
    ),
  )('$name fails without $sign', ({ sign, wanted }) => {
    const least = wanted[sign] ?? 0;
    expect(
      complaintsOf(
        { signs: wanted, excess: 0 },
        100,
        counted({ signs: { ...signs(wanted), [sign]: least - 1 } }),
      ),
    ).toEqual([
      expect.stringContaining(`${SIGNS[sign]} ${least - 1} instead of ${least} at least`),
    ]);
  });

  test('distinguishes a fault that has not struck from one that we have not answered', () => {
    expect(
      complaintsOf({ signs: { deliveriesLost: 1, deliveriesRepeated: 1 } }, 100, counted()),
    ).toEqual([
      'the fault has not struck: deliveries lost 0 instead of 1 at least; play more jobs',
      'the fault is not answered: deliveries repeated 0 instead of 1 at least',
    ]);
  });

  test('every fault but `none` has a sign', () => {
    expect(
      FAULTS.filter(({ signs: wanted }) => Object.values(wanted).every((least) => least === 0)).map(
        ({ name }) => name,
      ),
    ).toEqual(['none']);
  });

  test('fails with more excess workers than the fault explains', () => {
    expect(complaints({ excessWorkers: 5 })).toEqual([]);
    expect(complaints({ excessWorkers: 6 })).toEqual([
      '6 workers were made in excess, and the fault explains 5',
    ]);
    expect(complaints({ excessWorkers: 1 }, 0)).toEqual([
      '1 workers were made in excess, and the fault explains 0',
    ]);
  });

  test('fails with a worker that nothing called for, and names it', () => {
    expect(complaints({ unfoundedWorkers: ['pdk-a', 'pdk-b'] })).toEqual([
      'no delivery had called for these workers: pdk-a, pdk-b',
    ]);
  });

  test('fails with a call that GitHub had asked to wait for', () => {
    expect(complaints({ callsAgainstWait: 2, firstAgainstWait: ['GET /a', 'GET /b'] })).toEqual([
      '2 calls against a Retry-After: GET /a, GET /b',
    ]);
    expect(
      complaintsOf({ signs: {}, lostWaits: 2 }, 100, counted({ callsAgainstWait: 2 })),
    ).toEqual([]);
  });

  test.each([
    { most: { pool: 6, entity: 4 }, told: [] },
    {
      most: { pool: 7, entity: 4 },
      told: ['environment_1 had 7 pods of one pool at one moment, and its cap is 6'],
    },
    {
      most: { pool: 6, entity: 5 },
      told: ['environment_1 had 5 pods of one entity at one moment, and its cap is 4'],
    },
  ])('fails above a cap: $most', ({ most, told }) => {
    expect(exceededCaps({ schema: 'environment_1', caps: { pool: 6, entity: 4 } }, most)).toEqual(
      told,
    );
  });
});

const job = (id: number, repo: string, seconds: number | null) => ({
  id,
  repo,
  leftQueueAt: seconds === null ? null : new Date(seconds * 1_000).toISOString(),
});

describe('a row that hits one', () => {
  test('takes the starts of all others, and of no job that another run queued', () => {
    const jobs = [
      job(1, 'acme/shop', 9),
      job(2, 'umbra/core', 90),
      job(3, 'acme/shop', 5),
      job(4, 'acme/shop', null),
      job(5, 'acme/shop', 7),
    ];
    const queuedAt = new Map([1, 2, 3, 4].map((id) => [id, 4_000]));
    expect(othersStarts({ repositories: ['umbra/core'] }, queuedAt, jobs)).toEqual([
      1,
      5,
      Infinity,
    ]);
    expect(othersStarts(undefined, queuedAt, jobs)).toEqual([]);
  });

  test.each([
    { jobs: 300, without: 4, p99: 6, isLate: false },
    { jobs: 300, without: 4, p99: 6.1, isLate: true },
    { jobs: 300, without: 1, p99: 3, isLate: false },
    { jobs: 300, without: 1, p99: 3.1, isLate: true },
    { jobs: 12, without: 1, p99: 15, isLate: false },
    { jobs: 12, without: 1, p99: 15.1, isLate: true },
    { jobs: 12, without: 1, p99: Infinity, isLate: true },
  ])('others of $jobs jobs start within $p99 s, without the fault within $without s', (row) => {
    expect(complaintsOfOthers([0.5, row.p99], row.without, row.jobs)).toHaveLength(
      row.isLate ? 1 : 0,
    );
  });
});
