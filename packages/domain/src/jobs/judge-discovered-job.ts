import type { WorkflowJobAction } from '../deliveries/workflow-job-event.ts';

/** What our row says of a job that GitHub lists. */
export interface KnownJob {
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly wantsWorker: boolean;
}

/** `news` goes through the statement that writes jobs; `doubt` is looked up, for it takes two answers; `known` changes nothing. */
export type Discovery =
  | { readonly kind: 'news'; readonly action: WorkflowJobAction }
  | { readonly kind: 'doubt' }
  | { readonly kind: 'known' };

const RANK = { pending: 0, running: 1, completed: 2, failed: 2 } as const;
const KNOWN: Discovery = { kind: 'known' };

/**
 * Decides what a listed job means (E2): a queued one is demand, one further on than its row is brought there. An ended job without a row
 * needs nothing of us any more.
 */
export function judgeDiscoveredJob(known: KnownJob | undefined, job: { status: string; conclusion: string | null }): Discovery {
  const action = actionOf(job);
  if (action === undefined) return KNOWN;
  if (known === undefined) return action === 'completed' ? KNOWN : { kind: 'news', action };
  switch (action) {
    case 'completed':
      return known.status === 'completed' ? KNOWN : { kind: 'news', action };
    case 'in_progress':
      return RANK[known.status] < RANK.running ? { kind: 'news', action } : KNOWN;
    case 'queued':
      return known.status !== 'completed' && !known.wantsWorker ? { kind: 'doubt' } : KNOWN;
    case 'waiting':
      return KNOWN;
    default:
      return action satisfies never;
  }
}

/** What is neither is held back, by an approval or by its run's turn: no demand yet. */
function actionOf({ status, conclusion }: { status: string; conclusion: string | null }): WorkflowJobAction | undefined {
  if (conclusion !== null || status === 'completed') return 'completed';
  return status === 'in_progress' || status === 'queued' ? status : undefined;
}
