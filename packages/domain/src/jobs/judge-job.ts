/** A job that somebody is in doubt about, as its row says. */
export interface SuspectJob {
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  /** It is demand. */
  readonly wantsWorker: boolean;
  /** The worker that is bound to it is alive. */
  readonly hasWorker: boolean;
  /** GitHub called it queued before, long enough ago: when it was asked, or in a delivery that was old when it came. */
  readonly wasQueued: boolean;
  /** GitHub was asked before, and answered. */
  readonly wasLookedUp: boolean;
  /** The same, and GitHub did not know it. */
  readonly wasGone: boolean;
}

/** What GitHub answers for a job; `gone` only if GitHub does not know it although it shows us the repository. */
export type JobAnswer =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'job';
      readonly status: string;
      readonly conclusion: string | null;
      /** Its run is over, with this conclusion. Looked up for jobs only that were queued before. */
      readonly runEnd?: { readonly conclusion: string | null } | undefined;
    };

/** What is to be written about a job. `again`: GitHub is to be asked a second time before anything follows. */
export type JobVerdict =
  /** GitHub has gone on: this goes through the one statement that writes jobs. */
  | { readonly kind: 'stated'; readonly action: 'in_progress' | 'completed' }
  | { readonly kind: 'queued'; readonly again: boolean }
  /** It is demand again (A6). */
  | { readonly kind: 'requeued' }
  /** GitHub has answered, and nothing follows. */
  | { readonly kind: 'answered' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly message: string; readonly conclusion: string | null };

/**
 * Decides what GitHub's answer means for a job (E4). Nothing ends, and no demand comes back, on a first answer; only a demand that an old
 * delivery told of begins with it.
 */
export function judgeJob(job: SuspectJob, answer: JobAnswer): JobVerdict {
  const isOpen = job.status === 'pending' || job.status === 'running';
  if (answer.kind === 'gone') {
    if (!isOpen) return { kind: 'answered' };
    return job.wasGone ? { kind: 'failed', message: 'GitHub does not know the job any more', conclusion: null } : { kind: 'gone' };
  }
  // A conclusion ends a job, whatever its status says.
  if (answer.conclusion !== null || answer.status === 'completed') return { kind: 'stated', action: 'completed' };
  if (answer.status === 'in_progress') return { kind: 'stated', action: 'in_progress' };
  // Held back by an approval, or by its run's turn: no demand, and no end.
  if (answer.status !== 'queued') return { kind: 'answered' };
  return judgeQueued(job, answer.runEnd);
}

function judgeQueued(job: SuspectJob, runEnd: { readonly conclusion: string | null } | undefined): JobVerdict {
  if (job.status === 'completed') return { kind: 'answered' };
  if (job.wasQueued && runEnd !== undefined) {
    if (job.status === 'failed') return { kind: 'answered' };
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
  return job.wasQueued ? { kind: 'requeued' } : { kind: 'queued', again: true };
}
