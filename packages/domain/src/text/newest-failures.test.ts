import { expect, test } from '@jest/globals';
import { newestFailures } from './newest-failures.ts';

test('failed workers and operations are one list, the newest first (D12)', () => {
  const worker = {
    name: 'w-1',
    pool: 'gpu',
    failure: 'OOMKilled',
    createdAt: '2026-01-31T08:00:00Z',
    completedAt: null,
  };
  const operation = {
    id: '0b989ba4-242f-11e5-81e1-c7b6966d2516',
    kind: 'remove-secret',
    subject: { id: 'w-0', name: null },
    failure: { message: '403 Forbidden' },
    queuedAt: '2026-01-31T07:00:00Z',
    finishedAt: '2026-01-31T09:00:00Z',
  };
  const stillTold = { ...worker, name: 'w-2', completedAt: '2026-01-31T10:00:00Z' };
  expect(newestFailures([worker, stillTold], [operation])).toEqual([
    expect.objectContaining({ what: 'worker', name: 'w-2', at: '2026-01-31T10:00:00Z' }),
    {
      what: 'operation',
      id: operation.id,
      name: 'remove-secret',
      of: 'w-0',
      why: '403 Forbidden',
      at: '2026-01-31T09:00:00Z',
    },
    {
      what: 'worker',
      id: 'w-1',
      name: 'w-1',
      of: 'gpu',
      why: 'OOMKilled',
      at: '2026-01-31T08:00:00Z',
    },
  ]);
});

test('an operation without a failure has no reason', () => {
  const operation = {
    id: 'o-1',
    kind: 'upkeep',
    subject: { id: 'upkeep', name: null },
    failure: null,
    queuedAt: '2026-01-31T07:00:00Z',
    finishedAt: null,
  };
  expect(newestFailures([], [operation])).toEqual([expect.objectContaining({ why: null })]);
});
