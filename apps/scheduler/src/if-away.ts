import type { Reaches } from '@paddock/db/outages';
import { type GitHubFailure, isUnanswered as isUnansweredByGitHub } from '@paddock/github/errors';
import { isUnanswered as isUnansweredByCluster, type KubeFailure } from '@paddock/kube/errors';
import { type Outcome, snooze } from '@paddock/queue/outcome';

/** While the service is away, no process that finds it away claims the task. */
const AWAY_MS = 1_000;

/**
 * How a task ends if GitHub is away: it costs no attempt, and nobody is at fault. Undefined: GitHub
 * answers, so the failure belongs to the object of the call.
 */
export const ifGitHubAway = async (
  { github }: Reaches,
  failure: GitHubFailure,
): Promise<Outcome | undefined> =>
  isUnansweredByGitHub(failure) && (await github.report())
    ? snooze(AWAY_MS, failure.message)
    : undefined;

/** The same for the API server. A node or a webhook that is silent is not the API server. */
export const ifClusterAway = async (
  { cluster }: Reaches,
  failure: KubeFailure,
): Promise<Outcome | undefined> =>
  isUnansweredByCluster(failure) && (await cluster.report())
    ? snooze(AWAY_MS, failure.message)
    : undefined;
