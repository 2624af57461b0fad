import { heldBy } from '@paddock/db/breakers/breaker-subjects';
import { waitBreaker } from '@paddock/db/breakers/waits';
import type { GitHubFailure } from '@paddock/github/errors';
import { type Outcome, snooze } from '@paddock/queue/outcome';

/**
 * A task whose call GitHub has asked not to be made now runs again at the second that GitHub named,
 * and sooner if people end the wait.
 */
export const awaitGitHub = (failure: GitHubFailure, asked: { readonly appId: number; readonly entityId: number }): Outcome =>
  snooze(failure.retryAfterMs ?? 0, failure.message, { heldBy: heldBy(waitBreaker(failure, asked)) });
