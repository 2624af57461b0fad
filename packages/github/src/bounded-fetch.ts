import { repairJsonText, storable } from '@paddock/domain/text/storable';
import { followRedirects } from './follow-redirects.ts';
import { readBody } from './read-body.ts';

export type Fetch = typeof globalThis.fetch;

/** Statuses whose answers have no body; the platform refuses to build one. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * A fetch that stays with the server it calls, and is over within `timeoutMs` and
 * `LONGEST_ANSWER_BYTES`. It reads the body itself: Octokit takes a connection that breaks in the
 * middle of a body for an empty success, and a JIT config lost that way would look like an answer.
 * The body comes as text that PostgreSQL can hold (B9): people name jobs, runners and repositories,
 * and what GitHub says of them is stored.
 */
export function boundedFetch(fetch: Fetch, timeoutMs: number): Fetch {
  const follow = followRedirects(fetch);
  return async (input, init) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const response = await follow(input, { ...init, signal });
    const body = storable(repairJsonText(await readBody(response)).text);
    const { status, statusText, headers } = response;
    const whole = new Response(WITHOUT_BODY.has(status) ? null : body, {
      status,
      statusText,
      headers,
    });
    // Where it came from, redirects followed: a response made by hand does not know, and Octokit's
    // paging asks.
    return Object.defineProperty(whole, 'url', { value: response.url });
  };
}
