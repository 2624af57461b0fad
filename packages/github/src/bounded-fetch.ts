import { repairJsonText, storable } from '@paddock/domain/text/storable';
import { UnusableAnswerError } from './errors.ts';

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

/**
 * A page of 100 runs, runners or jobs has 2 MB if their texts are as long as GitHub allows. Parsed,
 * an answer takes several times its length, and dozens may be under way.
 */
export const LONGEST_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * The whole body as text. Throws an UnusableAnswerError, and reads no further, once it is too long.
 * Counts the unpacked bytes.
 */
async function readBody({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  // Leaving the loop cancels the body, and so closes the connection.
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > LONGEST_ANSWER_BYTES)
      throw new UnusableAnswerError(
        `GitHub's answer is longer than ${LONGEST_ANSWER_BYTES} bytes.`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

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
function followRedirects(fetch: Fetch): Fetch {
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
