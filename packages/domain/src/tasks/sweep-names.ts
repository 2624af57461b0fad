/** The sweeps that have a schedule, but for `redeliver`, which has one for each App. */
export const SCHEDULED_SWEEPS = [
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
  'sum-usage',
] as const;

/** The sweep over one App's delivery log. People also ask it for one delivery. */
export const REDELIVER = 'redeliver';

/** The sweep of one repository, which people ask for. */
export const RESYNC_REPOSITORY = 'resync-repository';

/** Has the active repositories of one installation resynced, which people ask for. */
export const RESYNC_INSTALLATION = 'resync-installation';

/** Every sweep of the reconciler, by the kind of its task. People pause them by these names. */
export const SWEEPS = [
  REDELIVER,
  RESYNC_REPOSITORY,
  RESYNC_INSTALLATION,
  ...SCHEDULED_SWEEPS,
] as const;

/** How often a scheduled sweep is tried. Few, since the next tick starts it again anyway. */
export const SWEEP_ATTEMPTS = 3;
