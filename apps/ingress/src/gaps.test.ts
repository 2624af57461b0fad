import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { createGaps } from './gaps.ts';

const wantedOf = (appId: number) => ({ schedule: `redeliver:${appId}`, forMs: 12_000 });

describe('a gap (E1)', () => {
  let end: AbortController;
  beforeEach(() => void (end = new AbortController()));
  afterEach(() => end.abort());

  /** A replica that reports every `apartMs`; `want` takes PostgreSQL's place. */
  function start({ want = () => Promise.resolve(), apartMs = 1 } = {}) {
    const wanted: unknown[] = [];
    const seen: string[] = [];
    const errors: unknown[] = [];
    const gaps = createGaps({
      want: async (passes) => {
        await want();
        wanted.push(passes);
      },
      onGap: (appId, gap) => void seen.push(`${gap} ${appId}`),
      onError: (error) => void errors.push(error),
      apartMs,
    });
    const running = gaps.run(end.signal);
    /** Waits for so many gaps. */
    const untilSeen = (many: number) => waitFor(`${many} gaps`, () => seen.length >= many);
    return { gaps, wanted, seen, errors, untilSeen, running };
  }

  test('has the log of each App looked at when the first delivery is stored after a start, and again some seconds later', async () => {
    const { gaps, wanted, seen, untilSeen } = start();
    for (const appId of [7, 7, 8]) gaps.stored(appId);
    await untilSeen(2);
    expect(wanted).toEqual([wantedOf(7), wantedOf(8)]);
    expect(seen).toEqual(['start 7', 'start 8']);
  });

  test.each<[number | undefined, string[]]>([
    [7, ['refusal 7']],
    [undefined, ['refusal 7', 'refusal 8']],
  ])('is seen after a 503 to App %s, once, by the next delivery that is stored', async (to, by) => {
    const { gaps, seen, untilSeen } = start();
    const store = () => [7, 8].forEach((appId) => gaps.stored(appId));
    store();
    await untilSeen(2);
    gaps.refused(to);
    gaps.refused(to);
    store();
    store();
    gaps.stored(9);
    await untilSeen(3 + by.length);
    expect(seen).toEqual(['start 7', 'start 8', ...by, 'start 9']);
  });

  test('that comes while the last one is reported waits for the next round', async () => {
    const { gaps, wanted, seen, running } = start({
      want: () => {
        gaps.refused(7);
        gaps.stored(7);
        return Promise.resolve();
      },
      apartMs: 5,
    });
    gaps.stored(7);
    await waitFor('a second round', () => wanted.length > 1);
    end.abort();
    await running;
    expect(seen.slice(0, 2)).toEqual(['start 7', 'refusal 7']);
  });

  test('is reported again until PostgreSQL takes it, and so are those that came meanwhile', async () => {
    let isAway = true;
    const { gaps, wanted, errors, untilSeen } = start({
      want: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
    });
    gaps.stored(7);
    await waitFor('a failure', () => errors.length > 0);
    gaps.stored(8);
    isAway = false;
    await untilSeen(2);
    expect(wanted).toEqual([wantedOf(7), wantedOf(8)]);
  });
});
