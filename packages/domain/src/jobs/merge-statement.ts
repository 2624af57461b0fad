import type {
  DeliveredStatement,
  StatedStatus,
  JobStatement,
} from '../deliveries/workflow-job-event.ts';
import type { PlacedJob, IgnoredJob } from '../pools/place-job.ts';
import type { Outcome } from '../deliveries/outcomes.ts';

/** The part of a job's row that GitHub's statements change. Instants are ISO 8601 in UTC. */
export interface JobRow extends PlacedJob {
  readonly status: StatedStatus | 'failed';
  /** It is demand. */
  readonly wantsWorker: boolean;
  /** A look-up is due, or one has called it queued. */
  readonly isInDoubt: boolean;
  /** GitHub did not show its repository when we last asked. */
  readonly isHidden: boolean;
  /** The version of the pools document that placed it. */
  readonly poolsVersion: number;
  readonly entityId: number;
  readonly entityName: string;
  readonly entityType: 'Organization' | 'User';
  readonly repoFullName: string;
  readonly appId: number;
  /** 0 if unknown. */
  readonly installationId: number;
  readonly conclusion: string | null;
  readonly runnerName: string | null;
  readonly runnerId: number | null;
  /** Our worker that runs it. */
  readonly podName: string | null;
  readonly workflowName: string | null;
  readonly htmlUrl: string | null;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  /** We failed it, and GitHub completed it. */
  readonly misjudged: boolean;
}

export interface StatementToMerge {
  readonly facts: DeliveredStatement;
  /** Undefined if no pool serves the job. */
  readonly place: PlacedJob | undefined;
  readonly poolsVersion: number;
  /** 0 if unknown. */
  readonly installationId: number;
  /** Our worker that runs the job, and its own place. */
  readonly worker: (PlacedJob & { readonly podName: string }) | null;
}

/**
 * Merges one statement into a job's row. Returns `row` itself if nothing changes, and undefined if
 * there is no row and the statement makes none. Neither the order of statements nor repetitions
 * change the last row. `now` is in milliseconds since 1970.
 */
export const mergeStatement = (
  row: JobRow | undefined,
  statement: StatementToMerge,
  now: number,
): JobRow | undefined => (row === undefined ? firstRow(statement, now) : merge(row, statement));

/** A job without a pool gets a row only if one of our workers runs it. */
function firstRow(statement: StatementToMerge, now: number): JobRow | undefined {
  const { facts, poolsVersion, installationId, worker } = statement;
  const place = statement.place ?? worker;
  if (place === null) return undefined;
  // An old delivery is no demand before a look-up. The answer of a look-up has no delivery.
  const isOld = facts.deliveryGuid !== null && isOldDemand(facts, now);
  return {
    pool: place.pool,
    image: place.image,
    scopeRepoId: place.scopeRepoId,
    poolsVersion,
    status: facts.status,
    wantsWorker: facts.status === 'pending' && !isOld,
    isInDoubt: isOld,
    isHidden: false,
    ...ownerOf(facts),
    appId: facts.appId,
    installationId,
    conclusion: facts.conclusion,
    runnerName: facts.runnerName,
    runnerId: facts.runnerId,
    podName: worker?.podName ?? null,
    workflowName: facts.workflowName,
    htmlUrl: facts.htmlUrl,
    queuedAt: facts.queuedAt,
    startedAt: facts.startedAt,
    completedAt: facts.completedAt,
    misjudged: false,
  };
}

/**
 * The status moves forward only, and an ended job keeps it. Where two statements contradict each
 * other, a comparison decides, not their order.
 */
function merge(row: JobRow, statement: StatementToMerge): JobRow {
  const { facts } = statement;
  const hasEnded = row.status === 'completed' || row.status === 'failed';
  const isEnd = facts.status === 'completed';
  // A repeated in_progress must not take back a demand that GitHub has confirmed since.
  const isSameRun =
    row.status === 'running' &&
    facts.status === 'running' &&
    facts.runnerName === row.runnerName &&
    facts.startedAt === row.startedAt;
  // A statement that the job has begun or ended also answers a look-up.
  const isStillQueued = facts.status === 'pending' || isSameRun;
  // A job that was no demand because GitHub hid its repository is demand again.
  const isShown = row.isHidden && row.status === 'pending';
  const wantsWorker = (row.wantsWorker || isShown) && isStillQueued;
  // The statement of the end decides the runner; before it, the later start does.
  const isNewerRun = isEnd || startOf(facts) > startOf(row);
  const merged: JobRow = {
    ...row,
    ...(wantsWorker ? placeOf(row, statement) : {}),
    ...runnerOf(row, statement, !hasEnded && isNewerRun),
    ...appOf(row, statement),
    ...movedTo(row, statement),
    ...endOf(row, facts),
    status: hasEnded || RANK[facts.status] < RANK[row.status] ? row.status : facts.status,
    wantsWorker,
    isInDoubt: row.isInDoubt && isStillQueued,
    isHidden: false,
    workflowName: row.workflowName ?? facts.workflowName,
    htmlUrl: row.htmlUrl ?? facts.htmlUrl,
    queuedAt: row.queuedAt ?? facts.queuedAt,
    startedAt:
      !hasEnded && isNewerRun
        ? (facts.startedAt ?? row.startedAt)
        : (row.startedAt ?? facts.startedAt),
    misjudged: row.misjudged || (row.status === 'failed' && isEnd),
  };
  const isSame = (Object.keys(merged) as (keyof JobRow)[]).every((key) => merged[key] === row[key]);
  return isSame ? row : merged;
}

const RANK = { pending: 0, running: 1, completed: 2, failed: 2 } as const;

/** Instants have one length, so these texts compare as pairs do. */
const startOf = ({ startedAt, runnerName }: Pick<JobRow, 'startedAt' | 'runnerName'>): string =>
  `${startedAt ?? ''} ${runnerName ?? ''}`;

/** Under a newer pools document, a job that still waits may belong to another pool. */
function placeOf(row: JobRow, { place, poolsVersion }: StatementToMerge): Partial<JobRow> {
  const isElsewhere = place?.pool !== row.pool || place.scopeRepoId !== row.scopeRepoId;
  return place !== undefined && poolsVersion > row.poolsVersion && isElsewhere
    ? { ...place, poolsVersion }
    : {};
}

/** A runner's name, id and worker change together. What the same one lacks is filled in. */
function runnerOf(row: JobRow, statement: StatementToMerge, isNewerRun: boolean): Partial<JobRow> {
  const { runnerName, runnerId } = statement.facts;
  const podName = statement.worker?.podName ?? null;
  if (runnerName === null) return {};
  if (row.runnerName === null || isNewerRun) return { runnerName, runnerId, podName };
  return row.runnerName === runnerName
    ? { runnerId: row.runnerId ?? runnerId, podName: row.podName ?? podName }
    : {};
}

const ownerOf = ({ entity, repoFullName }: DeliveredStatement) => ({
  entityId: entity.id,
  entityName: entity.login,
  entityType: entity.type,
  repoFullName,
});

/** The job waits, and its repository has another owner now. A delivery may be from before. */
function movedTo(row: JobRow, { facts, place, ...now }: StatementToMerge): Partial<JobRow> {
  const isMoved = facts.deliveryGuid === null && facts.entity.id !== row.entityId;
  if (!isMoved || row.status !== 'pending' || place === undefined) return {};
  const { poolsVersion, installationId } = now;
  return { ...ownerOf(facts), ...place, poolsVersion, appId: facts.appId, installationId };
}

/** If two Apps state one job, the App with the lower id is used for its runners. */
const appOf = (row: JobRow, { facts: { appId }, installationId }: StatementToMerge) =>
  appId < row.appId || (appId === row.appId && row.installationId === 0)
    ? { appId, installationId }
    : {};

/** A job ends once: of two stated ends the earlier one counts, then the lesser conclusion. */
function endOf(row: JobRow, facts: DeliveredStatement): Pick<JobRow, 'conclusion' | 'completedAt'> {
  const isEarlier = row.status === 'completed' && rankOfEnd(facts) < rankOfEnd(row);
  const [first, second] = isEarlier ? [facts, row] : [row, facts];
  return {
    conclusion: first.conclusion ?? second.conclusion,
    completedAt: first.completedAt ?? second.completedAt,
  };
}

/** These texts compare as pairs do. An unknown instant comes last. */
const rankOfEnd = ({ completedAt, conclusion }: Pick<JobRow, 'completedAt' | 'conclusion'>) =>
  `${completedAt ?? 'unknown'} ${conclusion ?? ''}`;

/**
 * A `queued` delivery this old may be a captured one, replayed after its job's row was retired.
 * GitHub drops a job that no runner took for a day. But a job that waited for an approval is queued
 * late.
 */
const OLD_AFTER_MS = 86_400_000;

/** Whether a waiting job's statement is that old at `now`, in milliseconds since 1970. */
export const isOldDemand = (
  { status, queuedAt }: Pick<JobStatement, 'status' | 'queuedAt'>,
  now: number,
): boolean =>
  status === 'pending' && queuedAt !== null && Date.parse(queuedAt) < now - OLD_AFTER_MS;

export interface Merged {
  readonly before: Pick<JobRow, 'status'> | undefined;
  /** The same object if nothing changed. */
  readonly after: Pick<JobRow, 'status'> | undefined;
  readonly place: PlacedJob | IgnoredJob;
  /** By this statement, a worker runs the job whose pool does not serve it. */
  readonly isMisused: boolean;
}

export function jobOutcome({ before, after, place, isMisused }: Merged): Outcome {
  const isIgnored = 'ignored' in place;
  if (after === undefined && isIgnored) return place.ignored;
  if (after === undefined || after === before) return 'job_already_exists';
  if (isMisused) return 'worker_misused';
  if (before === undefined) return isIgnored ? 'worker_bound' : 'job_stored';
  if (after.status === before.status) return 'job_facts_added';
  return after.status === 'completed' ? 'job_marked_completed' : 'job_marked_running';
}
