import { DAY_MS, duration, integer, tuning } from '@paddock/runtime/settings';
import { cadence } from '../schedules/cadence.ts';

/** How often to clean up. */
export const upkeepCadences = tuning({
  endedPodsEverySeconds: cadence('PADDOCK_ENDED_PODS_EVERY_SECONDS', 300, 'How often to delete the pods of ended workers'),
  registrationsEverySeconds: cadence('PADDOCK_REGISTRATIONS_EVERY_SECONDS', 300, 'How often to remove the registrations of failed workers'),
  strayRegistrationsEverySeconds: cadence(
    'PADDOCK_STRAY_REGISTRATIONS_EVERY_SECONDS',
    3_600,
    'How often to list GitHub’s runners, to find ours without a worker',
  ),
});

/** When to clean up. */
export const upkeepSettings = {
  podGraceSucceededMs: duration({
    env: 'PADDOCK_POD_GRACE_SUCCEEDED_MS',
    default: 21_600_000,
    max: 90 * DAY_MS,
    doc: 'How long to keep the pod of a worker that succeeded',
  }),
  podGraceFailedMs: duration({
    env: 'PADDOCK_POD_GRACE_FAILED_MS',
    default: 21_600_000,
    max: 90 * DAY_MS,
    doc: 'How long to keep the pod of a failed worker. Raise it to have more time to examine one',
  }),
  endedPodsPerNamespace: integer({
    env: 'PADDOCK_ENDED_PODS_PER_NAMESPACE',
    default: 2_000,
    min: 0,
    max: 1_000_000,
    doc: 'Most pods of ended workers in a namespace. Above it, the oldest are deleted early, succeeded ones first',
  }),
  strayRegistrationCap: integer({
    env: 'PADDOCK_STRAY_REGISTRATION_CAP',
    default: 50,
    min: 0,
    max: 10_000,
    doc: 'If a pass finds more runners of ours without a worker, it removes none, since our rows may be wrong. Raise it once you have checked them',
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
    registrationGraceMs: duration({
      env: 'PADDOCK_REGISTRATION_GRACE_MS',
      default: 600_000,
      max: 90 * DAY_MS,
      doc: 'How long to keep the registration of a failed worker',
    }),
    strayRegistrationGraceMs: duration({
      env: 'PADDOCK_STRAY_REGISTRATION_GRACE_MS',
      default: 3_600_000,
      max: 90 * DAY_MS,
      doc: 'How long a runner of ours without a worker must be offline before its registration is removed',
    }),
  }),
};
