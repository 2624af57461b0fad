/** The sweeps that have a schedule, but for `redeliver`, which has one for each App. */
export const SCHEDULED_SWEEPS = [
  'recover-jobs',
  'look-up-jobs',
  'discover-jobs',
  'check-apps',
  'check-workers',
  'check-runner-versions',
  'recover-tasks',
  'delete-ended-pods',
  'remove-registrations',
  'remove-stray-registrations',
  'retire-rows',
  'purge-operations',
  'roll-up-counts',
] as const;

/** Every sweep of the reconciler, by the kind of its task. People pause them by these names. */
export const SWEEPS = [
  'redeliver',
  'redeliver-since',
  'resync-repository',
  ...SCHEDULED_SWEEPS,
] as const;
