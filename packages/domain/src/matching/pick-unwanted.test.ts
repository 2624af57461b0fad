import { describe, expect, test } from '@jest/globals';
import { rulesWith } from '../scenes/matching-rules.scene.ts';
import type { MatchingRules } from './matching-rules.ts';
import { pickUnwanted, type Reservation } from './pick-unwanted.ts';

const worker = (podName: string, given: Partial<Reservation> = {}): Reservation => ({
  podName,
  demandKey: 7,
  entityId: 1,
  login: 'Acme',
  scopeRepoId: 0,
  installationId: 31,
  pool: 'linux',
  stopping: false,
  waiting: 3,
  unassigned: 3,
  ...given,
});

const three = (given: Partial<Reservation> = {}) =>
  ['newest', 'middle', 'oldest'].map((name) => worker(name, given));
const live = (alive: number) => [
  { demandKey: 7, entityId: 1, scopeRepoId: 0, pool: 'linux', alive },
];
const NONE = new Map<number, number>();
const pick = (
  newestFirst: Reservation[],
  workers: ReturnType<typeof live>,
  rules: MatchingRules,
  warm = NONE,
) => pickUnwanted(newestFirst, workers, { rules, warm });
const EVERYBODY = new Map([['*', { cap: null, weight: 1 }]]);
const names = (picked: readonly Reservation[]) => picked.map(({ podName }) => podName);

describe('pickUnwanted', () => {
  test('keeps wanted reservations, at the caps too (P3)', () => {
    expect(pick(three(), live(3), rulesWith({ cap: 3, pool: { cap: 3 } }))).toEqual([]);
  });

  test('picks the newest, as many as are too many for the demand (C3)', () => {
    expect(names(pick(three({ waiting: 1 }), live(3), rulesWith()))).toEqual(['newest', 'middle']);
  });

  test('one that is being stopped is no supply: when it goes, as many of the others as before are too many (C3)', () => {
    const [newest, ...others] = three({ waiting: 1, unassigned: 2 });
    const picked = pick(
      [{ ...(newest ?? worker('newest')), stopping: true }, ...others],
      live(3),
      rulesWith(),
    );
    expect(names(picked)).toEqual(['newest', 'middle']);
  });

  test('keeps warm workers beyond the demand (C10)', () => {
    expect(names(pick(three({ waiting: 0 }), live(3), rulesWith(), new Map([[7, 2]])))).toEqual([
      'newest',
    ]);
  });

  test.each([
    ['the entity’s cap', rulesWith({ cap: 2 })],
    ['the pool’s cap', rulesWith({ pool: { cap: 2 } })],
    [
      'the common cap of unnamed entities',
      rulesWith({ entities: EVERYBODY, common: { cap: 2, weight: 1 } }),
    ],
  ])('picks as many as exceed %s (C4)', (_name, rules) => {
    expect(names(pick(three(), live(3), rules))).toEqual(['newest']);
  });

  test.each([
    ['is paused: all go', 0, 3, ['newest', 'middle', 'oldest']],
    ['may be tried: one stays', 1, 3, ['newest', 'middle']],
    ['may be tried, and a registered worker is the trial', 1, 4, ['newest', 'middle', 'oldest']],
  ])('of a failing key that %s (C11)', (_name, room, unassigned, expected) => {
    const rules = rulesWith({ failing: new Map([[7, { room, reason: 'workers_failing' }]]) });
    expect(names(pick(three({ unassigned, waiting: 9 }), live(unassigned), rules))).toEqual(
      expected,
    );
  });

  test('keeps what was reserved where another key fails, the pool is suspected, or GitHub is away (C11, P6)', () => {
    const rules = rulesWith({
      failing: new Map([[8, { room: 0, reason: 'workers_failing' }]]),
      suspected: () => true,
      away: 'github_unavailable',
    });
    expect(pick(three(), live(3), rules)).toEqual([]);
  });

  test('counts a worker once that is too many for two reasons', () => {
    expect(
      names(pick(three({ waiting: 2 }), live(3), rulesWith({ cap: 2, pool: { cap: 2 } }))),
    ).toEqual(['newest']);
  });

  test('keeps to a cap per repository only where runners register there (C4)', () => {
    const rules = rulesWith({ pool: { repositoryCap: 1 } });
    expect(names(pick(three(), live(3), rules))).toEqual([]);
    expect(names(pick(three({ scopeRepoId: 5 }), live(3), rules))).toEqual(['newest', 'middle']);
  });

  test.each([
    ['whose pool is paused', rulesWith({ pool: { paused: true } })],
    ['whose pool has gone', rulesWith({ pools: new Map() })],
    ['whose entity is not allowed', rulesWith({ entities: new Map() })],
    ['in a stopped environment', rulesWith({ environmentStopped: true })],
    ['in a stopped pool', rulesWith({ pool: { stopped: true } })],
    ['of a stopped entity', rulesWith({ stoppedEntities: new Set([1]) })],
  ])('picks all workers %s (C12)', (_name, rules) => {
    expect(pick(three(), live(3), rules)).toHaveLength(3);
  });

  test('picks stopping workers, which were no supply: the others stay', () => {
    const mixed = [
      worker('stopping', { stopping: true, unassigned: 2, waiting: 2 }),
      ...three({ unassigned: 2, waiting: 2 }).slice(1),
    ];
    expect(names(pick(mixed, live(3), rulesWith()))).toEqual(['stopping']);
  });

  test('counts what each key lacks by itself (C3)', () => {
    const keys = [
      worker('a', { unassigned: 1, waiting: 0 }),
      worker('b', { demandKey: 8, unassigned: 1, waiting: 1 }),
    ];
    expect(names(pick(keys, live(1), rulesWith()))).toEqual(['a']);
    expect(names(pick(keys.toReversed(), live(1), rulesWith()))).toEqual(['a']);
  });

  test('counts under the common cap no entity that is listed (C4)', () => {
    const entities = new Map([['acme', { cap: null, weight: 1 }], ...EVERYBODY]);
    const rules = rulesWith({ entities, common: { cap: 1, weight: 1 }, listed: new Set([1]) });
    const stranger = worker('stranger', {
      demandKey: 8,
      entityId: 2,
      login: 'x',
      waiting: 1,
      unassigned: 1,
    });
    expect(
      pick(
        [...three(), stranger],
        [
          ...live(3),
          { ...live(1)[0], demandKey: 8, entityId: 2, scopeRepoId: 0, pool: 'linux', alive: 1 },
        ],
        rules,
      ),
    ).toEqual([]);
  });
});
