import type { Fetch } from './bounded-fetch.ts';
import { UnusableAnswerError } from './unusable-answer.ts';

/**
 * GitHub redirects calls for a repository's former name with these. Its description asks to repeat
 * the call with the same method and body.
 */
const REDIRECTS = new Set([301, 302, 307, 308]);

/** GitHub needs one. */
const MOST_REDIRECTS = 3;

/**
 * A fetch that follows redirects within the called origin only: a request holds a token, and its
 * body may hold more secrets. Any other redirect throws an UnusableAnswerError.
 */
export function followRedirects(fetch: Fetch): Fetch {
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const { status, headers } = response;
      if (status < 300 || status > 399 || status === 304) return response;
      await response.body?.cancel();
      url = nextUrl(url, status, headers.get('location'));
    }
    throw new UnusableAnswerError(`GitHub redirected the call more than ${MOST_REDIRECTS} times.`);
  };
}

function nextUrl(from: URL, status: number, location: string | null): URL {
  if (!REDIRECTS.has(status) || location === null || !URL.canParse(location, from)) {
    throw new UnusableAnswerError(
      `GitHub answered with status ${status}, but named no address to follow.`,
    );
  }
  const to = new URL(location, from);
  if (to.origin === from.origin) return to;
  throw new UnusableAnswerError(
    `GitHub at ${from.origin} redirects to ${to.origin}, which is not followed: if GitHub has moved, correct \`github.apiUrl\`.`,
  );
}
