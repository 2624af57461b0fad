import type { WorkflowJobAction } from '../deliveries/workflow-job-event.ts';

/** Our row of a job that GitHub lists. */
export interface KnownJob {
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly wantsWorker: boolean;
}

/**
 * `news`: store it. `look_up`: a change that needs two answers of GitHub. `known`: nothing changes.
 */
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
      return known.status !== 'completed' && !known.wantsWorker ? { kind: 'look_up' } : KNOWN;
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
