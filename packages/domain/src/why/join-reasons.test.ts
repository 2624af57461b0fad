import { describe, expect, test } from '@jest/globals';
import { factsWith, secondsAgo } from '../scenes/wait-facts.scene.ts';
import { explainWait } from './explain-wait.ts';
import { joinReasons } from './explain-wait.ts';

const span = (reason: string, since: number, until: number) => ({
  reason,
  since: secondsAgo(since),
  until: secondsAgo(until),
});

describe('a reason that comes and goes', () => {
  test('has held since it first came, if it was gone for a moment only', () => {
    expect(
      joinReasons([
        span('pool_failing', 10, 0),
        span('pool_failing', 100, 11),
        span('pool_failing', 900, 160),
        span('no_capacity', 950, 901),
        span('pool_failing', 999, 950),
      ]),
    ).toEqual([
      span('pool_failing', 900, 0),
      span('no_capacity', 950, 901),
      span('pool_failing', 999, 950),
    ]);
  });

  test('is another one after more than a minute without it', () => {
    const spans = [span('pool_failing', 10, 0), span('pool_failing', 100, 70.001)];
    expect(joinReasons([span('pool_failing', 10, 0), span('pool_failing', 100, 70)])).toHaveLength(
      1,
    );
    expect(joinReasons(spans)).toEqual(spans);
  });

  test('is told with the time since which it keeps the job waiting (G4)', () => {
    // The key has its reason for 120 s.
    const earlier = [span('pool_failing', 300, 121), span('no_capacity', 310, 300)];
    expect(explainWait(factsWith({ reason: 'pool_failing', earlier }))).toMatchObject({
      since: secondsAgo(300),
      earlier: [span('no_capacity', 310, 300)],
    });
    expect(explainWait(factsWith({ reason: 'no_capacity', earlier }))).toMatchObject({
      since: secondsAgo(120),
      earlier,
    });
    expect(explainWait(factsWith({ earlier })).earlier).toEqual(earlier);
  });
});
