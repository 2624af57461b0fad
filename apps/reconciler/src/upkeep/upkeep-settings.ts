import { integer } from '@paddock/runtime/settings';
import { cadence, duration } from '../duration-settings.ts';

/** How often what nobody needs any more is removed. */
export const upkeepCadences = {
  endedPodsEverySeconds: cadence('PADDOCK_ENDED_PODS_EVERY_SECONDS', 'How often the pods of ended workers are deleted', 300),
  registrationsEverySeconds: cadence('PADDOCK_REGISTRATIONS_EVERY_SECONDS', 'How often left registrations are removed', 300),
  strayRegistrationsEverySeconds: cadence(
    'PADDOCK_STRAY_REGISTRATIONS_EVERY_SECONDS',
    'How often GitHub’s runners are listed to find ours that have no worker',
    3_600,
  ),
  purgeEverySeconds: cadence('PADDOCK_PURGE_EVERY_SECONDS', 'How often expired operations are removed', 600),
  retireRowsEverySeconds: cadence('PADDOCK_RETIRE_ROWS_EVERY_SECONDS', 'How often old events and ended jobs are removed', 3_600),
  rollUpEverySeconds: cadence(
    'PADDOCK_ROLL_UP_EVERY_SECONDS',
    'How often the counts of ended tasks are summed up, and old ones removed',
    3_600,
  ),
};

/** When nobody needs it any more. */
export const upkeepSettings = {
  podGraceSucceededMs: duration('PADDOCK_POD_GRACE_SUCCEEDED_MS', 'How long the pod of a worker that ended well is kept', 21_600_000),
  podGraceFailedMs: duration('PADDOCK_POD_GRACE_FAILED_MS', 'How long the pod of a failed worker is kept', 21_600_000),
  endedPodsPerNamespace: integer({
    env: 'PADDOCK_ENDED_PODS_PER_NAMESPACE',
    doc: 'Most pods of ended workers that are kept in a namespace; above it the oldest go before their time, those that succeeded first',
    default: 2_000,
    min: 0,
    max: 1_000_000,
  }),
  podDeletionCap: integer({
    env: 'PADDOCK_POD_DELETION_CAP',
    doc: 'Most pods that one pass deletes',
    default: 10_000,
    min: 0,
    max: 1_000_000,
  }),
  registrationGraceMs: duration('PADDOCK_REGISTRATION_GRACE_MS', 'How long after a worker failed its registration is left alone', 600_000),
  registrationCap: integer({
    env: 'PADDOCK_REGISTRATION_CAP',
    doc: 'Most registrations that one pass removes',
    default: 50,
    min: 0,
    max: 10_000,
  }),
  strayRegistrationGraceMs: duration(
    'PADDOCK_STRAY_REGISTRATION_GRACE_MS',
    'How long a runner of ours without a worker must have been offline before its registration is removed',
    3_600_000,
  ),
  strayRegistrationCap: integer({
    env: 'PADDOCK_STRAY_REGISTRATION_CAP',
    doc: 'With more of these in one pass none is removed: then it is our rows that are wrong',
    default: 50,
    min: 0,
    max: 10_000,
  }),
  strayScopesHours: integer({
    env: 'PADDOCK_STRAY_SCOPES_HOURS',
    doc: 'Runners are listed where a worker was made so lately',
    default: 24,
    min: 1,
    max: 720,
  }),
  keepEventsDays: integer({
    env: 'PADDOCK_KEEP_EVENTS_DAYS',
    doc: 'How long events are kept, but for those of installations and of failed authentications, which are kept for ever',
    default: 90,
    min: 1,
    max: 36_500,
  }),
  keepJobsDays: integer({
    env: 'PADDOCK_KEEP_JOBS_DAYS',
    doc: 'How long ended jobs are kept',
    default: 90,
    min: 1,
    max: 36_500,
  }),
  retireBatch: integer({
    env: 'PADDOCK_RETIRE_BATCH',
    doc: 'Most rows that one statement of retention removes',
    default: 1_000,
    min: 1,
    max: 100_000,
  }),
};
