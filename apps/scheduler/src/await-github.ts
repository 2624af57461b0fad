import type { GitHubFailure } from '@paddock/github/errors';
import { type Outcome, snooze } from '@paddock/queue/kind';

/**
 * The longest sleep of a task that GitHub keeps waiting: a person may end the wait, and news of
 * GitHub's a refusal.
 */
const LONGEST_MS = 60_000;

/** Snoozes a task until the second that GitHub named, or until it looks again whether that holds. */
export const awaitGitHub = ({
  message,
  retryAfterMs = LONGEST_MS,
}: Pick<GitHubFailure, 'message' | 'retryAfterMs'>): Outcome =>
  snooze(Math.min(retryAfterMs, LONGEST_MS), message);
