import type { JobStatement, StatedStatus } from './workflow-job-event.ts';

/** A statement and the delivery that brought it; the App is the one whose secret signed it. */
export type DeliveredStatement = JobStatement & { readonly appId: number; readonly deliveryGuid: string | null };

/**
 * Joins what several deliveries say of the same jobs: one fact sheet per job, sorted by job id. The order of the deliveries, and
 * doubled ones, make no difference (B6).
 */
export function foldJobStatements(statements: readonly DeliveredStatement[]): DeliveredStatement[] {
  const byJob = Map.groupBy(statements, (statement) => statement.jobId);
  return [...byJob.values()].map(foldOne).toSorted((a, b) => a.jobId - b.jobId);
}

/**
 * Parts statements so that in each part no job has two runners: folding keeps one runner of a job, and each that is a worker of ours has to
 * be bound to it (B7). There is one part, unless GitHub gave a job to a second runner within one batch.
 */
export function roundsByRunner<T extends Pick<JobStatement, 'jobId' | 'runnerName'>>(statements: readonly T[]): T[][] {
  const rounds: T[][] = [];
  for (const ofJob of Map.groupBy(statements, ({ jobId }) => jobId).values()) {
    const { nobody = [], ...named } = Object.groupBy(ofJob, ({ runnerName }) => (runnerName === null ? 'nobody' : `runner ${runnerName}`));
    const [first = [], ...others] = Object.values(named).filter((part) => part !== undefined);
    for (const [index, part] of [[...nobody, ...first], ...others].entries()) (rounds[index] ??= []).push(...part);
  }
  return rounds;
}

/**
 * The furthest status decides, then the later start; what the better statement does not say is taken from the others. The rules are those
 * of the statement that writes jobs, so that it makes no difference which deliveries share a batch.
 */
function foldOne(statements: readonly DeliveredStatement[]): DeliveredStatement {
  const ranked = statements.toSorted(byWeight);
  const [first, ...others] = ranked;
  if (first === undefined) throw new RangeError('There is nothing to fold.');
  const said = <K extends keyof DeliveredStatement>(field: K): DeliveredStatement[K] =>
    ranked.find((statement) => statement[field] !== null)?.[field] ?? first[field];
  // What belongs together is taken together: a runner's name and id, an end and its conclusion, an App and its installation.
  const runner = ranked.find((statement) => statement.runnerName !== null) ?? first;
  const ends = ranked.filter(({ status }) => status === 'completed').toSorted(byEnd);
  const appId = Math.min(...ranked.map((statement) => statement.appId));
  const ofApp = ranked.filter((statement) => statement.appId === appId);
  return {
    ...first,
    appId,
    installationId: ofApp.find(({ installationId }) => installationId !== null)?.installationId ?? null,
    workflowName: said('workflowName'),
    htmlUrl: said('htmlUrl'),
    conclusion: ends.find(({ conclusion }) => conclusion !== null)?.conclusion ?? null,
    completedAt: ends[0]?.completedAt ?? null,
    runnerName: runner.runnerName,
    runnerId: runner.runnerId,
    queuedAt: said('queuedAt'),
    startedAt: said('startedAt'),
    // The delivery that made the demand is the one that people ask for.
    deliveryGuid: others.at(-1)?.deliveryGuid ?? first.deliveryGuid,
  };
}

const RANK: Readonly<Record<StatedStatus, number>> = { pending: 0, running: 1, completed: 2 };

export const rankOf = (status: StatedStatus): number => RANK[status];

const byWeight = (a: DeliveredStatement, b: DeliveredStatement): number =>
  RANK[b.status] - RANK[a.status] ||
  compare(b.startedAt ?? '', a.startedAt ?? '') ||
  compare(b.runnerName ?? '', a.runnerName ?? '') ||
  compare(a.deliveryGuid ?? '', b.deliveryGuid ?? '');

/** After every instant. */
const UNKNOWN = '~';

const byEnd = (a: DeliveredStatement, b: DeliveredStatement): number =>
  compare(a.completedAt ?? UNKNOWN, b.completedAt ?? UNKNOWN) || compare(a.conclusion ?? '', b.conclusion ?? '');

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
