import { setTimeout as sleep } from 'node:timers/promises';
import { evenShare } from '@paddock/simulators/random';
import type { GitHubControl } from '@paddock/simulators/github/control';
import type { JobTruth } from '@paddock/simulators/github/truth';
import type { Stage } from '../stage/stage.ts';
import { type Fault, type Hit, isHit } from './fault.ts';
import { LONE_REPOSITORY, REPOSITORIES } from './world.ts';

const USUAL_JOB_MS = [200, 2_000] as const;
/** The longest time in the queue of a job that is cancelled; every other one has no time there. */
const CANCEL_WITHIN_MS = 500;

/** The longest time until another controller's runner comes for a job. */
const RIVAL_WITHIN_MS = 250;

type NewJob = Parameters<GitHubControl['queueJob']>[0];

export interface Queueing {
  readonly jobs: number;
  readonly lastsMs: number;
  readonly advance: (share: number) => void;
  /** Resolves when the next job may be queued. */
  readonly held: () => Promise<unknown>;
}

/**
 * Queues the jobs evenly over the run. Returns their ids, each with the instant of its queueing, in
 * milliseconds since the epoch.
 */
export async function queueJobs(
  { github, environments, random }: Stage,
  fault: Fault,
  { jobs, lastsMs, advance, held }: Queueing,
): Promise<Map<number, number>> {
  const queuedAt = new Map<number, number>();
  const queued: JobTruth[] = [];
  const cancelling: Promise<unknown>[] = [];
  const isCancelled = evenShare(random);
  const isRivals = evenShare(random);
  const [least, most] = fault.jobMs ?? USUAL_JOB_MS;
  const queue = async (job: NewJob): Promise<void> => {
    const durationMs = least + random() * (most - least);
    const truth = await github.queueJob({ durationMs, ...job });
    queuedAt.set(truth.id, Date.now());
    queued.push(truth);
  };
  for (let index = 0; index < (fault.hit?.first ?? 0); index++)
    await queue(firstJob(fault.hit, environments, queued));
  if (queued.length > 0) await held();
  const before = queued.length;
  const begun = performance.now();
  for (let index = 0; index < jobs; index++) {
    await sleep(Math.max(0, begun + (index * lastsMs) / jobs - performance.now()));
    await held();
    const isFirst = fault.oneFirst === true && index < jobs / 3;
    const repo = isFirst ? REPOSITORIES[0] : repositoryOf(fault, index);
    // Not by the same remainder as the repository: else each environment would see only one
    // repository.
    const { labels, ownLabels } = environments[
      Math.floor(index / REPOSITORIES.length) % environments.length
    ] ?? { labels: [], ownLabels: [] };
    await queue({
      repo,
      labels: fault.hit?.ownPool === true && isHit(fault.hit, repo) ? ownLabels : labels,
      ...(fault.unannounced === true ? unannouncedJob(queued.slice(before)) : {}),
      ...(isRivals(fault.rivalRate ?? 0) ? { rivalMs: random() * RIVAL_WITHIN_MS } : {}),
      ...(index === loneIndex(fault, jobs) ? loneJob(fault) : {}),
    });
    if (isCancelled(fault.cancelShare ?? 0)) {
      const inMs = cancelling.length % 2 === 0 ? 0 : random() * CANCEL_WITHIN_MS;
      const id = queued.at(-1)?.id ?? 0;
      cancelling.push(sleep(inMs).then(() => github.cancelJob(id)));
    }
    advance((queued.length - before) / jobs);
  }
  await Promise.all(cancelling);
  return queuedAt;
}

/** The last of five jobs is of the one that the fault hits. */
function repositoryOf({ hit }: Fault, index: number): string {
  const place = index % REPOSITORIES.length;
  const ofHit = hit?.repositories ?? [];
  return place === REPOSITORIES.length - 1 && ofHit.length > 0
    ? (ofHit[Math.floor(index / REPOSITORIES.length) % ofHit.length] ?? REPOSITORIES[0])
    : (REPOSITORIES[place] ?? REPOSITORIES[0]);
}

function firstJob(
  { repositories = [], ownPool, inOneRun, unheard }: Partial<Hit> = {},
  [environment]: Stage['environments'],
  queued: readonly JobTruth[],
): NewJob {
  const labels = ownPool === true ? environment?.ownLabels : environment?.labels;
  return {
    repo: repositories[inOneRun === true ? 0 : queued.length % repositories.length] ?? '',
    labels: labels ?? [],
    runId: inOneRun === true ? queued.at(0)?.runId : undefined,
    unannounced: unheard,
  };
}

const loneJob = ({ unannounced }: Fault): Partial<NewJob> => ({
  repo: LONE_REPOSITORY,
  event: 'schedule',
  runId: undefined,
  unannounced,
});

/** The index of the lone job among the jobs, if there is one. */
const loneIndex = ({ lone }: Fault, jobs: number): number | undefined =>
  lone === undefined ? undefined : Math.min(Math.floor(lone * jobs), jobs - 1);

/**
 * The special options of the next job where GitHub does not announce some: two in five. One of
 * these joins the run of the job before the last.
 */
function unannouncedJob(queued: readonly JobTruth[]): Partial<NewJob> {
  const known = queued.at(-2);
  switch (queued.length % REPOSITORIES.length) {
    case 1:
      return { unannounced: true };
    case 2:
      return { unannounced: true, runId: known?.runId };
    default:
      return {};
  }
}
