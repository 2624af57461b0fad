import { describe, expect, test } from '@jest/globals';
import { findSnapshotRivals, leaveAlone, planPass } from './plan-pass.ts';
import { EMPTY_SNAPSHOT, type Snapshot } from './snapshot.ts';
import { NO_RULES } from './stored-rules.ts';
import {
  demandOf,
  failingKey,
  linux,
  liveOf,
  reservationOf,
  returnableOf,
  snapshotOf,
  spareOf,
  storedRules,
  warmKey,
} from '../scenes/snapshot.scene.ts';

const plan = (given: Partial<Snapshot>, most?: number) =>
  planPass(snapshotOf(given), most === undefined ? {} : { most });
/** How many workers are made, by key. */
const madeOf = (made: readonly { demandKey: number; count: number }[]) =>
  made.map(({ demandKey, count }): [number, number] => [demandKey, count]);
/** Of entity 2. */
const budget = (allowed: number) => storedRules({ budgets: { 102: allowed } });
const capped = (cap: number) => storedRules({ pools: [linux({ cap })] });

/** Two reservations of the key 10, whose jobs want them. */
const HERE = ['new', 'old'].map((name) => reservationOf(name, 10, { waiting: 9, unassigned: 2 }));
/**
 * Two reservations of entity 1 hold the pool's only places, and its jobs have gone; two jobs of
 * entity 2 wait.
 */
const TAKEN: Partial<Snapshot> = {
  rules: capped(2),
  live: [liveOf(10, 2)],
  reservations: ['new', 'old'].map((name) => reservationOf(name, 10, { unassigned: 2 })),
  demand: [demandOf(20)],
};

describe('planPass', () => {
  test('plans nothing where nothing is known', () => {
    expect(planPass(EMPTY_SNAPSHOT, {})).toStrictEqual({
      takeBack: [],
      giveBack: [],
      make: [],
      stop: [],
      warm: { mark: [], renew: [], make: [] },
      states: [],
      lacking: 0,
    });
    const parts = [...Object.values(EMPTY_SNAPSHOT), ...Object.values(NO_RULES)];
    expect(parts.filter(Array.isArray).flat()).toEqual([]);
  });

  test('makes the workers that waiting jobs lack beside workers in the making and unexplained ends (C3)', () => {
    const demand = [demandOf(10, { waiting: 5, unassigned: 1, unexplained: 1 })];
    const { make, lacking } = plan({ demand });
    expect([madeOf(make), lacking]).toEqual([[[10, 3]], 0]);
  });

  test('gives surplus back, and its places in the same pass to keys that need them (C3, C4)', () => {
    const { giveBack, make, lacking } = plan(TAKEN);
    expect([giveBack, madeOf(make), lacking]).toEqual([['new', 'old'], [[20, 2]], 0]);
  });

  test('keeps the place of a reservation that another transaction is writing (C4)', () => {
    const snapshot = leaveAlone(snapshotOf(TAKEN), ['old']);
    const { giveBack, make, states, lacking } = planPass(snapshot, {});
    expect([giveBack, madeOf(make), lacking]).toEqual([['new'], [[20, 1]], 1]);
    expect(states).toMatchObject([
      { demandKey: 20, waiting: 2, unassigned: 1, waitReason: 'at_pool_cap', cap: 2 },
    ]);
  });

  test('leaves alone workers that another transaction writes', () => {
    const given = snapshotOf({
      returnable: [returnableOf('a', 10)],
      warm: [warmKey(10, { aged: ['b', 'c'] })],
    });
    const { returnable, warm } = leaveAlone(given, ['a', 'b']);
    expect([returnable, warm[0]?.aged]).toEqual([[], ['c']]);
  });

  test('takes back the newest workers that were to end, as many as are lacking, and makes the rest (C3)', () => {
    const returnable = ['new', 'middle', 'old'].map((name) => returnableOf(name, 10));
    const given = { returnable, live: [liveOf(10, 3)], stopping: [liveOf(10, 3)] };
    const short = plan({ ...given, demand: [demandOf(10)] });
    expect([short.takeBack, short.make]).toEqual([['new', 'middle'], []]);
    const long = plan({ ...given, demand: [demandOf(10, { waiting: 4 })] });
    expect([long.takeBack, madeOf(long.make)]).toEqual([['new', 'middle', 'old'], [[10, 1]]]);
    expect(long.states).toMatchObject([{ unassigned: 4 }]);
  });

  test('a reservation that is taken back is not given back as one that ends', () => {
    const { takeBack, giveBack } = plan({
      demand: [demandOf(10, { waiting: 1 })],
      reservations: [reservationOf('a', 10, { stopping: true, waiting: 1, unassigned: 0 })],
      returnable: [returnableOf('a', 10)],
      live: [liveOf(10, 1)],
    });
    expect([takeBack, giveBack]).toEqual([['a'], []]);
  });

  test('uses the returned part of a budget, and nothing while GitHub asks to wait (C4, P4)', () => {
    const of102 = { unassigned: 2, installationId: 102 };
    const reservations = ['new', 'old'].map((name) => reservationOf(name, 10, of102));
    const given = { ...TAKEN, reservations };
    expect(madeOf(plan({ ...given, rules: budget(-1) }).make)).toEqual([[20, 1]]);
    const waits = { isPaused: true, isTried: false, reason: 'github_budget' } as const;
    const rules = storedRules({ told: { entities: { 2: waits }, repositories: {} } });
    expect(plan({ ...given, rules }).make).toEqual([]);
  });

  test('says that GitHub is away of jobs whose workers are still to be registered, and of no others (C11)', () => {
    const { states } = plan({
      reservations: HERE,
      live: [liveOf(10, 2), liveOf(20, 2)],
      rules: storedRules({ away: ['github'] }),
      demand: [demandOf(10, { unassigned: 2 }), demandOf(20, { unassigned: 2 })],
    });
    expect(states.map(({ demandKey, waitReason }) => [demandKey, waitReason])).toEqual([
      [10, 'github_unavailable'],
      [20, null],
    ]);
  });

  test('makes one worker on trial for a key whose pause is over, once its last has gone (C11)', () => {
    const rules = storedRules({ failing: [failingKey(10)] });
    const stopped = { ...demandOf(10), unassigned: 0 };
    expect(madeOf(plan({ rules, demand: [stopped] }).make)).toEqual([[10, 1]]);
    expect(plan({ rules, demand: [{ ...stopped, unassigned: 1 }] }).make).toEqual([]);
  });

  test('states new facts of a key, and none that are stored already (P5)', () => {
    const state = { waiting: 2, unassigned: 2, cap: null, waitReason: null };
    expect(plan({ demand: [demandOf(10, { stored: state })] }).states).toEqual([]);
    for (const news of [{ waiting: 1 }, { unassigned: 1 }, { cap: 1 }, { waitReason: 'x' }]) {
      const stored = { ...state, ...news };
      expect(plan({ demand: [demandOf(10, { stored })] }).states).toHaveLength(1);
    }
  });

  test.each([
    ['nothing', {}, null],
    ['an unexplained end', { unexplained: 1 }, 'unexplained_ends'],
    ['no node', { lacksNodes: true }, 'no_capacity'],
    ['a failure', { failureClass: 'image_pull' }, 'workers_failing'],
  ] as const)('names what delays a key that lacks nothing: %s (P5)', (_what, given, waitReason) => {
    const { states } = plan({ demand: [demandOf(10, { unassigned: 1, ...given })] });
    expect(states).toMatchObject([{ waitReason }]);
  });

  test('stops workers that neither jobs nor configuration want, and their newest reservations at once (C3, C10)', () => {
    const given = {
      spare: [spareOf(10, 3)],
      live: [liveOf(10, 3)],
      warm: [warmKey(10, { wanted: 1, unassigned: 3, marked: 1 })],
    };
    expect(plan(given).giveBack).toHaveLength(0);
    // The marked worker may be among those that stop.
    expect(plan(given)).toMatchObject({
      giveBack: [],
      stop: [{ demandKey: 10, count: 2 }],
      warm: { mark: [{ demandKey: 10, count: 1 }], make: [] },
    });
    const reservations = [reservationOf('new', 10, { unassigned: 3 })];
    expect(plan({ ...given, reservations })).toMatchObject({
      giveBack: ['new'],
      stop: [{ demandKey: 10, count: 1 }],
    });
  });

  test('gives back only as many warm reservations as are in the way, and stops no worker beside them (C10)', () => {
    const { giveBack, stop } = plan({
      rules: capped(2),
      demand: [demandOf(20, { waiting: 1 })],
      spare: [spareOf(10, 2)],
      live: [liveOf(10, 2)],
      reservations: ['new', 'old'].map((name) => reservationOf(name, 10, { unassigned: 2 })),
      warm: [warmKey(10, { unassigned: 2, marked: 2 })],
    });
    expect([giveBack, stop]).toEqual([['new'], []]);
  });

  const waiting = demandOf(20, { waiting: 1 });
  test.each([
    [
      'a worker that was to end and serves again',
      { returnable: [returnableOf('a', 10)], demand: [demandOf(10, { waiting: 1 }), waiting] },
    ],
    [
      'a reservation that was to end and has gone',
      { reservations: [reservationOf('a', 10, { stopping: true })], demand: [waiting] },
    ],
  ])('a warm worker goes for a job that waits for a place, beside %s (C10)', (_what, given) => {
    const { stop } = plan({
      rules: capped(1),
      live: [liveOf(10, 1), liveOf(30, 1)],
      stopping: [liveOf(10, 1)],
      spare: [spareOf(30, 1)],
      warm: [warmKey(30, { wanted: 1, unassigned: 1, marked: 1 })],
      ...given,
    });
    expect(stop).toEqual([{ demandKey: 30, count: 1, inTheWay: 1 }]);
  });

  test('lets warm reservations go for jobs that wait for their places, in the next pass (C10)', () => {
    const { giveBack, make, stop, warm } = plan({
      rules: capped(2),
      demand: [demandOf(20)],
      spare: [spareOf(10, 2)],
      live: [liveOf(10, 2)],
      reservations: [reservationOf('new', 10, { unassigned: 2 })],
      warm: [warmKey(10, { unassigned: 2, marked: 2 })],
    });
    expect([giveBack, make]).toEqual([['new'], []]);
    expect(stop).toEqual([{ demandKey: 10, count: 1, inTheWay: 1 }]);
    expect(warm).toEqual({ mark: [], renew: [], make: [] });
  });

  test('makes at most as many as a pass may, for jobs before warm workers (C10)', () => {
    const { make, warm } = plan({ demand: [demandOf(10)], warm: [warmKey(20)] }, 3);
    expect([madeOf(make), madeOf(warm.make)]).toEqual([[[10, 2]], [[20, 1]]]);
    expect(madeOf(plan({ demand: [demandOf(10)], warm: [warmKey(20)] }, 2).warm.make)).toEqual([]);
  });

  test('warm workers may not use the caps, budgets and trials that jobs have used (C4, C10)', () => {
    const given = { demand: [demandOf(10)], warm: [warmKey(20), warmKey(11)] };
    expect(madeOf(plan({ ...given, rules: capped(3) }).warm.make)).toHaveLength(1);
    const budgeted = plan({ ...given, rules: storedRules({ budgets: { 101: 3 } }) });
    expect(Object.fromEntries(madeOf(budgeted.warm.make))).toEqual({ 20: 2, 11: 1 });
    expect(plan({ ...given, rules: storedRules({ away: ['default'] }) }).warm.make).toEqual([]);
    // The job's worker is the trial of its key.
    const tried = {
      demand: [demandOf(10, { waiting: 1 })],
      warm: [warmKey(10, { waiting: 1 })],
      rules: storedRules({ failing: [failingKey(10)] }),
    };
    expect(plan(tried).warm.make).toEqual([]);
  });
});

test('findSnapshotRivals names the keys that compete for the room that all reservations would leave (C4)', () => {
  const rules = storedRules({ entities: { '*': { maxWorkers: 2 } } });
  const demand = [demandOf(10), demandOf(11)];
  const taken = { rules, demand, live: [liveOf(10, 2)] };
  expect(findSnapshotRivals(snapshotOf(taken))).toEqual([]);
  expect(findSnapshotRivals(snapshotOf({ rules, demand: [demandOf(10)] }))).toStrictEqual([]);
  const reservations = [reservationOf('a', 10, { stopping: true })];
  expect(findSnapshotRivals(snapshotOf({ ...taken, reservations }))).toEqual([
    { demandKey: 10, count: 1 },
    { demandKey: 11, count: 1 },
  ]);
});
