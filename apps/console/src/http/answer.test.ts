import { expect, test } from '@jest/globals';
import { toCsv } from './answer.ts';

test('rows for a sheet: whole numbers, percents, and no formula of a stranger', () => {
  const rows = [
    { of: { name: '=1+1' }, minutes: 7.6, idleShare: 0.104, labels: ['a', 'b'], at: null },
    { of: { name: 'Nightly, "late"' }, minutes: 0, idleShare: null, before: { jobs: 2 } },
  ];
  expect(toCsv(rows)).toBe(
    [
      'of.name,minutes,idleShare,labels,at,before.jobs',
      "'=1+1,8,10,a b,,",
      '"Nightly, ""late""",0,,,,2',
      '',
    ].join('\r\n'),
  );
});
