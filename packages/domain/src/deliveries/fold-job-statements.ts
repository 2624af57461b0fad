import type { JobStatement, StatedStatus } from './workflow-job-event.ts';

/** A statement with its delivery and the App that signed it. */
export type DeliveredStatement = JobStatement & {
  readonly appId: number;
  readonly deliveryGuid: string | null;
};

/**
 * Merges several deliveries' statements into one for each job, sorted by job id. The order of the
 * deliveries and repeated ones make no difference.
 */
export function foldJobStatements(statements: readonly DeliveredStatement[]): DeliveredStatement[] {
  const byJob = Map.groupBy(statements, (statement) => statement.jobId);
  return [...byJob.values()].map(foldOne).toSorted((a, b) => a.jobId - b.jobId);
}

/**
 * Splits statements so that in each part a job has at most one runner. A fold keeps one runner of a
 * job, but each worker of ours must be bound. There is one part, unless GitHub gave a job to a
 * second runner within one batch.
 */
export function splitByRunner<T extends Pick<JobStatement, 'jobId' | 'runnerName'>>(
  statements: readonly T[],
): T[][] {
  const parts: T[][] = [];
  for (const ofJob of Map.groupBy(statements, ({ jobId }) => jobId).values()) {
    const { none = [], ...named } = Object.groupBy(ofJob, ({ runnerName }) =>
      runnerName === null ? 'none' : `runner ${runnerName}`,
    );
    const [first = [], ...others] = Object.values(named).filter((part) => part !== undefined);
    for (const [index, part] of [[...none, ...first], ...others].entries())
      (parts[index] ??= []).push(...part);
  }
  return parts;
}

/**
 * The furthest status decides, then the later start. The other statements fill what the first
 * leaves out. The SQL statement that writes jobs has the same rules, so batches make no difference.
 */
function foldOne(statements: readonly DeliveredStatement[]): DeliveredStatement {
  const ranked = statements.toSorted(byWeight);
  const [first, ...others] = ranked;
  if (first === undefined) throw new RangeError('There is nothing to fold.');
  const said = <K extends keyof DeliveredStatement>(field: K): DeliveredStatement[K] =>
    ranked.find((statement) => statement[field] !== null)?.[field] ?? first[field];
  // These pairs come from one statement: a runner's name and id, an App and its installation.
  const runner = ranked.find((statement) => statement.runnerName !== null) ?? first;
  const ends = ranked.filter(({ status }) => status === 'completed').toSorted(byEnd);
  const appId = Math.min(...ranked.map((statement) => statement.appId));
  const ofApp = ranked.filter((statement) => statement.appId === appId);
  return {
    ...first,
    appId,
    installationId:
      ofApp.find(({ installationId }) => installationId !== null)?.installationId ?? null,
    workflowName: said('workflowName'),
    htmlUrl: said('htmlUrl'),
    conclusion: ends.find(({ conclusion }) => conclusion !== null)?.conclusion ?? null,
    completedAt: ends[0]?.completedAt ?? null,
    runnerName: runner.runnerName,
    runnerId: runner.runnerId,
    queuedAt: said('queuedAt'),
    startedAt: said('startedAt'),
    // People look for the delivery that made the demand.
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

/** Sorts after every instant. */
const UNKNOWN = '~';

const byEnd = (a: DeliveredStatement, b: DeliveredStatement): number =>
  compare(a.completedAt ?? UNKNOWN, b.completedAt ?? UNKNOWN) ||
  compare(a.conclusion ?? '', b.conclusion ?? '');

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
