/** Why we stop a worker. `workers.stop_reason` is text: no migration for a new one. */
export const STOP_REASONS = {
  pending_timeout: 'The pod did not start in time.',
  image_pull: 'The pod could not start: an image could not be had.',
  container_config: 'The pod could not start: a container could not be made from its template.',
  not_registered: 'The pod ran, but GitHub never called its runner online.',
  idle: 'The runner was idle for long, and no job of its key waited.',
  not_assigned:
    'The runner was idle for long, although a job of its key waited: GitHub did not give it the job.',
  offline: 'GitHub called the runner offline for long while its pod ran.',
  registration_gone: 'GitHub no longer knew the runner while its pod ran.',
  over: 'The worker had had its job, and its pod went on.',
  surplus: 'More runners were there than jobs wanted.',
  warm_expired:
    'The idle runner had been kept ready for as long as GitHub keeps its registration, or its pool had changed.',
  pool_changed:
    'It did not fit its changed pool: it lacked a label, was in another runner group, or had no pod yet and the pool has another namespace.',
  drained: 'A person asked for it.',
  pod_gone: 'The pod is gone.',
} as const;

/** Stops of workers that did what they should: such an end is no failure to people. */
export const GOOD_ENDS = [
  'idle',
  'over',
  'surplus',
  'warm_expired',
  'pool_changed',
  'drained',
] as const;

export type StopReason = keyof typeof STOP_REASONS;

/** Failures of a start that seldom pass by themselves. Rows and pod failures use the same words. */
export const START_FAILURES = [
  'image_pull',
  'container_config',
] as const satisfies readonly StopReason[];

export const isStartFailure = (reason: string | null): boolean =>
  START_FAILURES.some((failure) => failure === reason);

/** Stops of workers that no job needed: until they are deregistered, they can serve again. */
export const RETURNABLE_REASONS = ['surplus', 'idle'] as const satisfies readonly StopReason[];

export const isReturnable = (reason: string | null): boolean =>
  RETURNABLE_REASONS.some((returnable) => returnable === reason);

/** GitHub no longer serves the runner's version. Also a class of a pool's failures. */
export const OUTDATED_RUNNER = 'outdated_runner';

/** GitHub gave an idle runner no job although one waited. Also a class of a demand key's failures. */
export const NOT_ASSIGNED = 'not_assigned' satisfies StopReason;

/** Ends without a job although one waited: a look-up checks the key's jobs first. */
export const JOBLESS_REASONS = [
  'pending_timeout',
  'not_registered',
  'not_assigned',
  'offline',
  'registration_gone',
] as const satisfies readonly StopReason[];

/** The sentence for a stored reason. A reason that this version does not know is quoted. */
export function describeStop(reason: string | null): string {
  return (
    Object.entries(STOP_REASONS).find(([known]) => known === reason)?.[1] ??
    `The worker was stopped: ${reason ?? 'no reason is known'}.`
  );
}
