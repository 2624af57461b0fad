/** The sweep over one App's delivery log. People also ask it for one delivery. */
export const REDELIVER = 'redeliver';

/** Discovery. People also ask it for one repository, or for the active ones of an installation. */
export const DISCOVER_JOBS = 'discover-jobs';

/** The sweeps that have a schedule, but for `redeliver`, which has one for each App. */
export const SCHEDULED_SWEEPS = [
  'look-up-jobs',
  DISCOVER_JOBS,
  'check-apps',
  'check-workers',
  'check-runner-versions',
  'recover-tasks',
  'delete-ended-pods',
  'remove-registrations',
  'upkeep',
] as const;

/** Every sweep of the reconciler, by the kind of its task. People pause them by these names. */
export const SWEEPS = [REDELIVER, ...SCHEDULED_SWEEPS] as const;

/** The sweeps that delete something at GitHub or in the cluster. People may try these out. */
export const DELETING_SWEEPS: ReadonlySet<string> = new Set([
  'check-workers',
  'delete-ended-pods',
  'remove-registrations',
]);

/** How often a scheduled sweep is tried. Few, since the next tick starts it again anyway. */
export const SWEEP_ATTEMPTS = 3;

/** GitHub refuses us something, so our installations may be out of date: the Apps are checked soon. */
export const checkAppsTask = {
  kind: 'check-apps',
  subject: { type: 'schedule', id: 'check-apps' },
  maxAttempts: SWEEP_ATTEMPTS,
  dueInMs: 60_000,
} as const;

export const lookUpJobsTask = {
  kind: 'look-up-jobs',
  subject: { type: 'schedule', id: 'look-up-jobs' },
  maxAttempts: SWEEP_ATTEMPTS,
} as const;

/** Of the sweep over an App's delivery log. Ingress asks for passes too. */
export const redeliverySchedule = (appId: number): string => `redeliver:${appId}`;
