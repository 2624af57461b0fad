import type { UselessRegistrations } from '@paddock/db/workers';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;

/**
 * How long to wait before the next registration, in milliseconds, when registrations came to nothing lately: doubling with each, so that an
 * ill GitHub or a template that the cluster refuses costs a worker a minute and not hundreds a second.
 */
export function registrationPause(useless: UselessRegistrations | undefined): number {
  if (useless === undefined) return 0;
  const whole = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(useless.count, 20));
  return Math.max(0, Math.ceil(whole - useless.newestAgeMs));
}
