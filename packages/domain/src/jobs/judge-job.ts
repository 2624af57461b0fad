import type { WorkflowJobAction } from '../deliveries/workflow-job-event.ts';

export interface JobToJudge {
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  /** It is demand. */
  readonly wantsWorker: boolean;
  /** A live worker is bound to it. */
  readonly hasWorker: boolean;
  /** GitHub called it queued long enough ago: in a look-up, or in an old delivery. */
  readonly wasQueued: boolean;
  /** It is no demand, because GitHub hid its repository. */
  readonly wasHidden: boolean;
  readonly wasLookedUp: boolean;
  readonly wasGone: boolean;
}

/** GitHub's answer. `gone`: GitHub shows us the repository, but does not know the job. */
export type JobAnswer =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'job';
      readonly status: string;
      readonly conclusion: string | null;
      /** Its run is over, with this conclusion. Asked only for jobs that were queued before. */
      readonly runEnd?: { readonly conclusion: string | null } | undefined;
    };

/** What to write about a job. `again`: a second look-up must confirm it. */
export type JobVerdict =
  /** GitHub knows more: store it as if a delivery had said it. */
  | { readonly kind: 'stated'; readonly action: 'in_progress' | 'completed' }
  | { readonly kind: 'queued'; readonly again: boolean }
  /** It is demand again. */
  | { readonly kind: 'requeued' }
  /** Nothing follows from the answer. */
  | { readonly kind: 'answered' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly message: string; readonly conclusion: string | null };

/**
 * Decides what GitHub's answer means for a job. A first answer ends nothing and restores no demand,
 * except that it confirms the demand of an old delivery.
 */
export function judgeJob(job: JobToJudge, answer: JobAnswer): JobVerdict {
  const isOpen = job.status === 'pending' || job.status === 'running';
  if (answer.kind === 'gone') {
    if (!isOpen) return { kind: 'answered' };
    return job.wasGone
      ? { kind: 'failed', message: 'GitHub no longer knows the job', conclusion: null }
      : { kind: 'gone' };
  }
  // A conclusion ends a job, regardless of its status.
  if (answer.conclusion !== null || answer.status === 'completed')
    return { kind: 'stated', action: 'completed' };
  if (answer.status === 'in_progress') return { kind: 'stated', action: 'in_progress' };
  // An approval or the run's order holds the job back: no demand, no end.
  if (answer.status !== 'queued') return { kind: 'answered' };
  return judgeQueued(job, isOpen, answer.runEnd);
}

function judgeQueued(
  job: JobToJudge,
  isOpen: boolean,
  runEnd: { readonly conclusion: string | null } | undefined,
): JobVerdict {
  if (job.wasQueued && runEnd !== undefined) {
    if (!isOpen) return { kind: 'answered' };
    if (!job.wasLookedUp) return { kind: 'queued', again: true };
    const { conclusion } = runEnd;
    return {
      kind: 'failed',
      message: `its run is over (${conclusion ?? 'superseded'}), and GitHub never gave the job to a runner`,
      conclusion,
    };
  }
  if (job.wantsWorker) return { kind: 'queued', again: false };
  if (job.hasWorker) return { kind: 'answered' };
  return job.wasQueued || job.wasHidden ? { kind: 'requeued' } : { kind: 'queued', again: true };
}

export interface KnownJob {
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly wantsWorker: boolean;
}

/** `look_up`: a change that needs two answers of GitHub. `known`: nothing changes. */
export type Discovery =
  | { readonly kind: 'news'; readonly action: WorkflowJobAction }
  | { readonly kind: 'look_up' }
  | { readonly kind: 'known' };

const RANK = { pending: 0, running: 1, completed: 2, failed: 2 } as const;
const KNOWN: Discovery = { kind: 'known' };

/**
 * Decides what a listed job means. A queued job is demand. A job that is further than its row is
 * news. An ended job without a row changes nothing.
 */
export function judgeDiscoveredJob(
  known: KnownJob | undefined,
  job: { status: string; conclusion: string | null },
): Discovery {
  const action = actionOf(job);
  if (action === undefined) return KNOWN;
  if (known === undefined) return action === 'completed' ? KNOWN : { kind: 'news', action };
  switch (action) {
    case 'completed':
      return known.status === 'completed' ? KNOWN : { kind: 'news', action };
    case 'in_progress':
      return RANK[known.status] < RANK.running ? { kind: 'news', action } : KNOWN;
    case 'queued':
      return known.wantsWorker ? KNOWN : { kind: 'look_up' };
    case 'waiting':
      return KNOWN;
    default:
      return action satisfies never;
  }
}

/** Undefined for other statuses: an approval or the run's order holds the job back. */
function actionOf({
  status,
  conclusion,
}: {
  status: string;
  conclusion: string | null;
}): WorkflowJobAction | undefined {
  if (conclusion !== null || status === 'completed') return 'completed';
  return status === 'in_progress' || status === 'queued' ? status : undefined;
}
