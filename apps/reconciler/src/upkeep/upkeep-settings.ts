import { integer, tuning } from '@paddock/runtime/settings';

/** Limits of checking Apps and of retention. */
export const upkeepSettings = {
  installationsGoneAtMost: integer({
    env: 'PADDOCK_INSTALLATIONS_GONE_AT_MOST',
    default: 20,
    min: 0,
    max: 10_000,
    doc: 'If an App’s list lacks more installations, the list is ignored. Raise it after you removed more at once',
  }),
  keepEventsDays: integer({
    env: 'PADDOCK_KEEP_EVENTS_DAYS',
    default: 90,
    min: 1,
    max: 36_500,
    doc: 'How long to keep events. Those of installations and failed authentications are kept for ever',
  }),
  keepJobsDays: integer({
    env: 'PADDOCK_KEEP_JOBS_DAYS',
    default: 90,
    min: 1,
    max: 36_500,
    doc: 'How long to keep ended jobs',
  }),
  ...tuning({
    keepWaitReasonsHours: integer({
      env: 'PADDOCK_KEEP_WAIT_REASONS_HOURS',
      default: 24,
      min: 1,
      max: 876_000,
      doc: 'How long to keep what jobs waited for earlier',
    }),
  }),
};
