import { expect, test } from '@jest/globals';
import { judgeWorker, type OverdueRunner } from './judge-worker.ts';

/** Online, past both deadlines, and no job waits. */
const OVERDUE: OverdueRunner = {
  runner: 'online',
  hadJob: false,
  wasOnline: true,
  offlineForMs: null,
  isRegistrationDue: true,
  isIdleDue: true,
  idleDeadlineMs: 600_000,
  waitingForMs: null,
};

test.each<[string, Partial<OverdueRunner>, string | undefined]>([
  ['idle, and no job waits', {}, 'idle'],
  ['idle, but not for long', { isIdleDue: false }, undefined],
  [
    'idle, and a job has just begun to wait: it may be given to it',
    { waitingForMs: 599_000 },
    undefined,
  ],
  ['idle, and a job has waited as long', { waitingForMs: 600_000 }, 'not_assigned'],
  ['busy', { runner: 'busy' }, undefined],
  ['busy, and never called online before', { runner: 'busy', wasOnline: false }, undefined],
  ['idle after its job', { hadJob: true, isIdleDue: false }, 'over'],
  ['gone from GitHub after its job', { runner: 'unknown', hadJob: true, isIdleDue: false }, 'over'],
  ['offline after its job', { runner: 'offline', hadJob: true, offlineForMs: 0 }, 'over'],
  ['busy although its job is over, or was never told', { runner: 'busy', hadJob: true }, undefined],
  ['never online', { runner: 'offline', wasOnline: false, offlineForMs: 0 }, 'not_registered'],
  [
    'never online, and unknown to GitHub',
    { runner: 'unknown', wasOnline: false },
    'not_registered',
  ],
  [
    'never online, and young',
    { runner: 'offline', wasOnline: false, offlineForMs: 0, isRegistrationDue: false },
    undefined,
  ],
  ['offline for a moment', { runner: 'offline', offlineForMs: 0 }, undefined],
  [
    'offline, but since when is not written down',
    { runner: 'offline', offlineForMs: null },
    undefined,
  ],
  ['offline for long', { runner: 'offline', offlineForMs: 600_000 }, 'offline'],
  ['gone from GitHub', { runner: 'unknown' }, 'registration_gone'],
  [
    'gone from GitHub, young: it may have just ended its job',
    { runner: 'unknown', isIdleDue: false },
    undefined,
  ],
])('%s (E5)', (_what, given, expected) => {
  expect(judgeWorker({ ...OVERDUE, ...given }, { offlineMs: 600_000 })).toBe(expected);
});
