import { repairJsonText, storable } from '@paddock/domain/text/storable';
import { followRedirects } from './follow-redirects.ts';
import { readBody } from './read-body.ts';

export type Fetch = typeof globalThis.fetch;

/** Answers with these statuses have no body; the platform refuses to build one. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * A fetch that follows only redirects to the same server, and is over within `timeoutMs` and
 * `LONGEST_ANSWER_BYTES`. It reads the body itself: Octokit takes a connection that breaks in the
 * middle of a body for an empty success, so a lost JIT config would look like an answer. It
 * replaces characters of the body that PostgreSQL cannot store: people name jobs, runners and
 * repositories, and we store what GitHub says of them.
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
    // The final URL after redirects. A response made by hand lacks it, and Octokit's paging needs
    // it.
    return Object.defineProperty(whole, 'url', { value: response.url });
  };
}
