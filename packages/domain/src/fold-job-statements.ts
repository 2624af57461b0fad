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

/** The furthest status decides, then the later start; what the better statement does not say is taken from the others. */
function foldOne(statements: readonly DeliveredStatement[]): DeliveredStatement {
  const ranked = statements.toSorted(byWeight);
  const [first, ...others] = ranked;
  if (first === undefined) throw new RangeError('There is nothing to fold.');
  const said = <K extends keyof DeliveredStatement>(field: K): DeliveredStatement[K] =>
    ranked.find((statement) => statement[field] !== null)?.[field] ?? first[field];
  // A runner's name and its id belong together.
  const runner = ranked.find((statement) => statement.runnerName !== null) ?? first;
  return {
    ...first,
    workflowName: said('workflowName'),
    htmlUrl: said('htmlUrl'),
    conclusion: said('conclusion'),
    runnerName: runner.runnerName,
    runnerId: runner.runnerId,
    queuedAt: said('queuedAt'),
    startedAt: said('startedAt'),
    completedAt: said('completedAt'),
    installationId: said('installationId'),
    // The delivery that made the demand is the one that people ask for.
    deliveryGuid: others.at(-1)?.deliveryGuid ?? first.deliveryGuid,
  };
}

const RANK: Readonly<Record<StatedStatus, number>> = { pending: 0, running: 1, completed: 2 };

export const rankOf = (status: StatedStatus): number => RANK[status];

const byWeight = (a: DeliveredStatement, b: DeliveredStatement): number =>
  RANK[b.status] - RANK[a.status] || compare(b.startedAt ?? '', a.startedAt ?? '') || compare(a.deliveryGuid ?? '', b.deliveryGuid ?? '');

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
