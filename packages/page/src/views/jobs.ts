import type { JobRow } from '../answers.ts';
import type { Tone } from '../parts/chip.tsx';

/** A job’s state in a word, and how it feels. */
export function stateOf({ state, conclusion, failure }: JobRow): { word: string; tone: Tone } {
  if (state === 'waiting') return { word: 'waiting', tone: 'wait' };
  if (state === 'running') return { word: 'running', tone: 'busy' };
  if (conclusion === null) return { word: failure === null ? 'ended' : 'given up', tone: 'over' };
  if (conclusion === 'success') return { word: conclusion, tone: 'good' };
  const isHarmless = ['cancelled', 'skipped', 'neutral', 'stale'].includes(conclusion);
  return { word: conclusion.replaceAll('_', ' '), tone: isHarmless ? 'over' : 'bad' };
}

/** A stretch of time; `to` null: it lasts. */
export interface Span {
  readonly from: string;
  readonly to: string | null;
}

/** How long GitHub had it queued. A job that ended without a start was queued to its end. */
export const queuedOf = (job: JobRow): Span => ({
  from: job.queuedAt ?? job.createdAt,
  to: job.startedAt ?? (job.state === 'waiting' ? null : (job.completedAt ?? job.createdAt)),
});

/** How long it ran, or has run; undefined: it never started, or nobody said when it ended. */
export function ranOf({ state, startedAt, completedAt }: JobRow): Span | undefined {
  if (startedAt === null || state === 'waiting') return undefined;
  if (state === 'running') return { from: startedAt, to: null };
  return completedAt === null ? undefined : { from: startedAt, to: completedAt };
}

const OF_ACTIVE = ['entity', 'repository', 'pool', 'workflow', 'from', 'to'];

/** Whether the list is of jobs that wait: no other has a reason. */
export const isWaiting = (query: URLSearchParams): boolean =>
  query.get('state') === 'waiting' || (query.has('reason') && !query.has('state'));

/** Where the API counts the waiting jobs by reason to which the other filters lead. */
export const waitsPath = (query: URLSearchParams): string =>
  `/waits?${only(query, OF_ACTIVE).toString()}`;

/** The list of those that wait for this reason, within the same filters; undefined: for any. */
export function reasonPath(query: URLSearchParams, reason: string | undefined): string {
  const filters = only(query, OF_ACTIVE);
  filters.set('state', 'waiting');
  if (reason !== undefined) filters.set('reason', reason);
  return `/jobs?${filters.toString()}`;
}

const only = (query: URLSearchParams, names: readonly string[]): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => names.includes(name)));

/** The filters that the API takes for the jobs of `state`, by their names. */
export function filtersFor(query: URLSearchParams): readonly string[] {
  if (isWaiting(query)) return ['reason', ...OF_ACTIVE];
  if (query.get('state') === 'running') return OF_ACTIVE;
  if (query.has('repository')) return ['repository', 'workflow', 'conclusion', 'from', 'to'];
  const ofEntity = query.has('entity') || query.has('pool');
  return ofEntity
    ? ['entity', 'pool', 'conclusion', 'from', 'to']
    : ['entity', 'repository', 'pool', 'conclusion', 'from', 'to'];
}

/** The API’s path of `acme/api`. */
export const resyncPath = (fullName: string): string =>
  `/repositories/${fullName.split('/').map(encodeURIComponent).join('/')}/resync`;
