import { afterEach, describe, expect, test } from '@jest/globals';
import type { WantedPasses } from '@paddock/db/schedules/schedules';
import { waitFor } from '@paddock/testing/wait-for';
import { type Gap, type GapsOptions, createGaps } from './gaps.ts';

const SOON = { schedule: 'redeliver:7', forMs: 12_000, isUrgent: true };

describe('a gap (E1)', () => {
  const ended: AbortController[] = [];
  afterEach(() => {
    for (const end of ended.splice(0)) end.abort();
  });

  /** A replica whose clock is the test's; `want` takes PostgreSQL's place. */
  function start(
    want: (passes: WantedPasses) => Promise<void> = () => Promise.resolve(),
    options: Partial<GapsOptions> = {},
  ) {
    const clock = { now: 0 };
    const wanted: WantedPasses[] = [];
    const seen: Gap[] = [];
    const errors: unknown[] = [];
    const gaps = createGaps({
      want: async (passes) => {
        await want(passes);
        wanted.push(passes);
      },
      onGap: (_appId, gap) => void seen.push(gap),
      onError: (error) => void errors.push(error),
      now: () => clock.now,
      ...options,
    });
    const end = new AbortController();
    ended.push(end);
    void gaps.run(end.signal);
    /** Waits for so many gaps. */
    const untilSeen = (many: number) => waitFor(`${many} gaps`, () => seen.length >= many);
    return { gaps, clock, wanted, seen, errors, untilSeen };
  }

  test('has the log of each App looked at when the first delivery is stored after a start, and again some seconds later', async () => {
    const { gaps, wanted, seen } = start();
    gaps.stored(7);
    gaps.stored(7);
    gaps.stored(8);
    await waitFor('both', () => wanted.length === 2);
    expect(wanted).toEqual([SOON, { ...SOON, schedule: 'redeliver:8' }]);
    expect(seen).toEqual(['start', 'start']);
  });

  test('is seen after a 503, by the first delivery that is stored', async () => {
    const { gaps, clock, wanted, seen, untilSeen } = start();
    gaps.stored(7);
    await untilSeen(1);
    clock.now = 1;
    gaps.refused(7);
    gaps.refused(7);
    gaps.refused(8);
    clock.now = 2;
    gaps.stored(7);
    clock.now = 3;
    gaps.stored(7);
    await untilSeen(2);
    expect(seen).toEqual(['start', 'refusal']);
    // So soon after the last one it shares the looks that go on.
    expect(wanted).toEqual([SOON, { ...SOON, isUrgent: false }]);
  });

  test('is the App’s that was refused: no other App’s delivery ends it', async () => {
    const { gaps, clock, wanted, untilSeen } = start();
    gaps.stored(7);
    gaps.stored(8);
    await untilSeen(2);
    clock.now = 1;
    gaps.refused(8);
    clock.now = 2;
    gaps.stored(7);
    gaps.stored(8);
    await untilSeen(3);
    expect(wanted.slice(2)).toEqual([{ ...SOON, schedule: 'redeliver:8', isUrgent: false }]);
  });

  test('is a silence of a minute too, for one look, and at most one in five minutes', async () => {
    const { gaps, clock, wanted, seen, untilSeen } = start();
    gaps.stored(7);
    await untilSeen(1);
    clock.now = 59_000;
    gaps.stored(7);
    clock.now = 119_000;
    gaps.stored(7);
    await untilSeen(2);
    expect(seen).toEqual(['start', 'silence']);
    expect(wanted[1]).toEqual({ schedule: 'redeliver:7', restMs: 300_000 });
  });

  test('that may be a stranger’s doing has the log looked at once in five minutes', async () => {
    const { gaps, clock, wanted, seen, untilSeen } = start();
    gaps.stored(7);
    await untilSeen(1);
    const turnAwayAt = (second: number) => {
      clock.now = second * 1_000;
      gaps.turnedAway();
      gaps.stored(7);
    };
    turnAwayAt(1);
    await untilSeen(2);
    for (let second = 2; second <= 300; second++) turnAwayAt(second);
    gaps.stored(8);
    await waitFor('what comes after them', () => seen.includes('start', 1));
    turnAwayAt(301);
    await untilSeen(4);
    expect(seen).toEqual(['start', 'turned_away', 'start', 'turned_away']);
    expect(wanted[1]).toEqual({ schedule: 'redeliver:7', forMs: 12_000, restMs: 300_000 });
  });

  test.each(['succeeds', 'fails'])(
    'that comes again while ingress stores the first one waits for the pause, if storing %s',
    async (how) => {
      let told = 0;
      const { gaps } = start(
        () => {
          if (++told < 10) {
            gaps.refused(7);
            gaps.stored(7);
          }
          return how === 'fails' && told < 10
            ? Promise.reject(new Error('away'))
            : Promise.resolve();
        },
        { rest: () => new Promise(() => undefined) },
      );
      gaps.stored(7);
      await new Promise(setImmediate);
      expect(told).toBe(1);
    },
  );

  test('is stored again until PostgreSQL takes it, and so are those that came meanwhile', async () => {
    let isAway = true;
    const { gaps, clock, wanted, seen, errors, untilSeen } = start(() =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(),
    );
    gaps.stored(7);
    await waitFor('a failure', () => errors.length > 0);
    clock.now = 60_000;
    gaps.stored(7);
    isAway = false;
    await untilSeen(1);
    expect(seen).toEqual(['start']);
    expect(wanted).toEqual([SOON]);
  });
});
