import { heldBy } from '@paddock/db/breakers/breaker-subjects';
import { waitBreaker } from '@paddock/db/breakers/waits';
import type { GitHubFailure } from '@paddock/github/errors';
import { type Outcome, snooze } from '@paddock/queue/outcome';

/**
 * Snoozes a task until the second that GitHub named in its rate limit, or until an operator ends
 * the wait.
 */
export const awaitGitHub = (
  failure: GitHubFailure,
  asked: { readonly appId: number; readonly entityId: number },
): Outcome =>
  snooze(failure.retryAfterMs ?? 0, failure.message, {
    heldBy: heldBy(waitBreaker(failure, asked)),
  });
