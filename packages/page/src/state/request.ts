import { signal as signalOf } from '@preact/signals';
import type { Trouble } from '../answers.ts';
import { readJson } from '../text/words.ts';
import { setClock } from './clock.ts';
import { hrefOf } from './place.ts';

export interface Session {
  /** As `token ci`. */
  readonly person: string;
  readonly access: 'read' | 'operate';
  /** A session that a sign-out ends. False: a proxy says who asks. */
  readonly isSession: boolean;
}

/** Undefined until the console has said; null: nobody has signed in. */
export const session = signalOf<Session | null | undefined>();

type Answered<T> = { readonly answer: T } | { readonly trouble: Trouble };

interface Asking {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const NO_ANSWER: Trouble = {
  status: 0,
  title: 'No answer',
  detail: 'The console cannot be reached. Paddock’s other services work on without it.',
};

/**
 * Asks the console; `path` is below its root, as `/api/v1/jobs`. Rejects only if it was told to
 * stop. A request that the session is too old for shows the sign-in.
 */
export async function request<T>(
  path: string,
  { method = 'GET', body, headers = {}, signal }: Asking = {},
): Promise<Answered<T>> {
  const asked = await fetch(hrefOf(path), {
    method,
    headers: {
      accept: 'application/json',
      // No other site may send this header without asking first.
      'x-paddock-page': '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
    redirect: 'error',
  }).catch(() => undefined);
  signal?.throwIfAborted();
  if (asked === undefined) return { trouble: NO_ANSWER };
  setClock(asked.headers.get('date'));
  const told = readJson(await asked.text().catch(() => ''));
  signal?.throwIfAborted();
  if (asked.ok && told !== undefined) return { answer: told as T };
  if (asked.status === 401) session.value = null;
  return { trouble: isTrouble(told) ? told : { ...NO_ANSWER, status: asked.status } };
}

const isTrouble = (told: unknown): told is Trouble =>
  typeof told === 'object' && told !== null && 'detail' in told && 'title' in told;
