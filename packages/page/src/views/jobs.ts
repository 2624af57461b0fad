import type { Item } from '../answers.ts';
import { plain } from '../text/words.ts';

export function stateOf({ state, conclusion, failure }: Item<'listJobs'>): string {
  if (state !== 'ended') return state;
  return plain(conclusion ?? (failure === null ? 'no conclusion' : 'given up'));
}

/** A stretch of time; `to` null: it lasts. */
export interface Span {
  readonly from: string;
  readonly to: string | null;
}

/** How long GitHub had it queued. A job that ended without a start was queued to its end. */
export const queuedOf = (job: Item<'listJobs'>): Span => ({
  from: job.queuedAt ?? job.createdAt,
  to: job.startedAt ?? (job.state === 'waiting' ? null : (job.completedAt ?? job.createdAt)),
});

/** How long it ran, or has run; undefined: it never started, or nobody said when it ended. */
export function ranOf({ state, startedAt, completedAt }: Item<'listJobs'>): Span | undefined {
  if (startedAt === null || state === 'waiting') return undefined;
  if (state === 'running') return { from: startedAt, to: null };
  return completedAt === null ? undefined : { from: startedAt, to: completedAt };
}

const OF_ACTIVE = ['entity', 'repository', 'pool', 'workflow', 'from', 'to'];

/** Whether the list is of jobs that wait: no other has a reason. */
export const isWaiting = (query: URLSearchParams): boolean =>
  query.get('state') === 'waiting' || (query.has('reason') && !query.has('state'));

export const onlyWaiting = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => OF_ACTIVE.includes(name)));

/** The list of those that wait for this reason, within the same filters; undefined: for any. */
export function reasonPath(query: URLSearchParams, reason: string | undefined): string {
  const filters = onlyWaiting(query);
  filters.set('state', 'waiting');
  if (reason !== undefined) filters.set('reason', reason);
  return `/jobs?${filters.toString()}`;
}

/** The filters that the API takes for the jobs of `state`, by their names. */
export function filtersFor(query: URLSearchParams): readonly string[] {
  if (isWaiting(query)) return ['reason', ...OF_ACTIVE];
  if (query.get('state') === 'running') return OF_ACTIVE;
  const ofAny = ['conclusion', 'from', 'to'];
  if (query.has('repository')) return ['repository', 'workflow', ...ofAny];
  const ofEntity = query.has('entity') || query.has('pool');
  return ['entity', ...(ofEntity ? [] : ['repository']), 'pool', ...ofAny];
}
