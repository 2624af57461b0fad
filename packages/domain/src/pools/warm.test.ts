import { describe, expect, test } from '@jest/globals';
import { warm, warmAt, mostWarm } from './warm.ts';

const WORKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;

/** The number at an instant, where 1 is that outside of all times. */
const at = (instant: string, ...times: object[]): number => {
  const [item] = warm.parse([{ scope: 'acme', workers: 1, times }]);
  return warmAt(item ?? {}, new Date(instant));
};
const time = (from: string, to: string, more: object = {}) => ({
  from,
  to,
  timezone: 'Europe/Berlin',
  workers: 9,
  ...more,
});

describe('how many workers stay idle at an instant (C10)', () => {
  const office = time('08:00', '18:00', { days: WORKDAYS });
  const night = time('22:00', '06:00', { days: ['fri'] });
  // In Berlin, the clocks went from 2:00 to 3:00 on 29 March 2026, at 1:00 UTC, and go from 3:00 to
  // 2:00 on 25 October, at 1:00 UTC. Both are Sundays.
  test.each([
    ['before the begin', office, '2026-11-27T06:59:59Z', 1],
    ['at the begin', office, '2026-11-27T07:00:00Z', 9],
    ['at the last moment', office, '2026-11-27T16:59:59Z', 9],
    ['at the end', office, '2026-11-27T17:00:00Z', 1],
    ['in summer an hour sooner by UTC', office, '2026-07-10T06:00:00Z', 9],
    ['on another day', office, '2026-11-28T12:00:00Z', 1],
    ['the day of the zone counts', office, '2026-11-27T23:30:00Z', 1],
    ['before midnight', night, '2026-11-27T21:00:00Z', 9],
    ['after midnight it is still the day of the begin', night, '2026-11-28T04:59:00Z', 9],
    ['it ends on the day after', night, '2026-11-28T05:00:00Z', 1],
    ['the night before is of another day', night, '2026-11-27T04:00:00Z', 1],
    [
      'from Sunday into Monday',
      time('22:00', '06:00', { days: ['sun'] }),
      '2026-11-30T02:00:00Z',
      9,
    ],
    ['a whole day', time('00:00', '00:00', { days: ['sat'] }), '2026-11-28T22:59:00Z', 9],
    ['and no more', time('00:00', '00:00', { days: ['sat'] }), '2026-11-28T23:00:00Z', 1],
    ['always', time('07:00', '07:00'), '2026-11-28T03:00:00Z', 9],
    ['to midnight', time('20:00', '00:00', { days: ['sat'] }), '2026-11-28T22:59:00Z', 9],
    [
      'a begin in the hour that is skipped is at its end',
      time('02:30', '04:00'),
      '2026-03-29T01:00:00Z',
      9,
    ],
    ['not sooner', time('02:30', '04:00'), '2026-03-29T00:59:00Z', 1],
    ['the time is shorter then', time('01:00', '04:00'), '2026-03-29T02:00:00Z', 1],
    [
      'a time within the skipped hour never comes',
      time('02:10', '02:50'),
      '2026-03-29T01:00:00Z',
      1,
    ],
    ['an hour that comes twice: the first', time('02:10', '02:50'), '2026-10-25T00:15:00Z', 9],
    ['and the second', time('02:10', '02:50'), '2026-10-25T01:15:00Z', 9],
    ['the time is longer then', time('01:00', '03:00'), '2026-10-25T01:59:00Z', 9],
    ['and ends as the clock says', time('01:00', '03:00'), '2026-10-25T02:00:00Z', 1],
    [
      'where half hours count',
      time('08:00', '18:00', { timezone: 'Asia/Kolkata' }),
      '2026-11-27T02:30:00Z',
      9,
    ],
    ['in UTC', time('08:00', '18:00', { timezone: 'UTC' }), '2026-11-27T07:30:00Z', 1],
  ])('%s: %j at %s is %d', (_what, one, instant, wanted) => {
    expect(at(instant, one)).toBe(wanted);
  });

  test('of several times at once the most counts, and a time may have fewer than outside', () => {
    const noon = '2026-11-27T11:00:00Z';
    expect(at(noon, office, time('11:00', '13:00', { workers: 12 }))).toBe(12);
    expect(at(noon, time('11:00', '13:00', { workers: 0 }))).toBe(0);
    const [item] = warm.parse([{ scope: 'acme', times: [office] }]);
    expect(warmAt(item ?? {}, new Date('2026-11-28T12:00:00Z'))).toBe(0);
    expect(mostWarm(item ?? {})).toBe(9);
  });
});
