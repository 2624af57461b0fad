import { signal } from '@preact/signals';
import type { Trouble } from '../answers.ts';
import { request, type Session, session } from './request.ts';

/** Why the console has not said whether somebody has signed in. */
export const unreachable = signal<Trouble | undefined>();

/** Why the link that was opened signs nobody in. */
export const refusedLink = signal<Trouble | undefined>();

const AGAIN_MS = 3_000;

/** Finds out whether somebody has signed in here, and asks again until the console answers. */
export async function findSession(): Promise<void> {
  const asked = await request<Session>('/session');
  if ('answer' in asked) session.value = asked.answer;
  else if (asked.trouble.status !== 401) {
    unreachable.value = asked.trouble;
    setTimeout(() => void findSession(), AGAIN_MS);
  }
}

/** Shows a token once, for a session by cookie; the page keeps neither. Or why it is refused. */
export async function signIn(token: string): Promise<Trouble | undefined> {
  const asked = await request<Session>('/session', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  if ('trouble' in asked) return asked.trouble;
  session.value = asked.answer;
  return undefined;
}

export async function signOut(): Promise<void> {
  await request('/session', { method: 'DELETE' });
  session.value = null;
}

/** The part of a link that no browser sends to a server. */
const LINK = /^#sign-in=([\w-]+)$/;

/**
 * Signs in by the link that was opened, if it has a token, as `/#sign-in=TOKEN`. The token leaves
 * the address bar and the history first.
 */
export async function signInByLink(): Promise<void> {
  const [, token] = LINK.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  refusedLink.value = await signIn(token);
}
