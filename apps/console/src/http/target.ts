import type { IncomingMessage } from 'node:http';
import type { ApiTarget } from './answer.ts';

/** What a request is about. */
export type Target =
  | ({ readonly to: 'api' } & ApiTarget)
  | { readonly to: 'session' }
  | {
      readonly to: 'signIn';
      readonly step: SignInStep;
      readonly query: URLSearchParams;
    }
  | { readonly to: 'changes'; readonly query: URLSearchParams }
  | { readonly to: 'file'; readonly name: string }
  | { readonly to: 'page'; readonly pathname: string };

const STEPS = ['begin', 'callback'] as const;

/** Of a sign-in by an identity provider. */
export type SignInStep = (typeof STEPS)[number];

/**
 * Reads what a request is about from its address. A page and its list share one: whoever asks for
 * JSON, by `.json` or by `Accept`, gets the API’s answer, everyone else the page. `prefix` is where
 * a proxy has the console; it may have taken it off already.
 */
export function targetOf(
  { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  prefix: string,
): Target {
  const [, path = '', search = ''] = /^([^?]*)\??(.*)$/.exec(url) ?? [];
  const pathname = withoutPrefix(path, prefix);
  const query = new URLSearchParams(search);
  if (pathname.startsWith('/api/')) return { to: 'api', pathname, query };
  if (pathname === '/session') return { to: 'session' };
  const step = STEPS.find((one) => pathname === `/sign-in/${one}`);
  if (step !== undefined) return { to: 'signIn', step, query };
  if (pathname === '/changes') return { to: 'changes', query };
  if (method !== 'GET' && method !== 'HEAD') return { to: 'api', pathname, query };
  if (pathname.startsWith('/assets/'))
    return { to: 'file', name: pathname.slice('/assets/'.length) };
  if (pathname.endsWith('.json'))
    return { to: 'api', pathname: listAt(pathname.slice(0, -'.json'.length)), query };
  if (prefersJson(headers.accept)) return { to: 'api', pathname: listAt(pathname), query };
  return { to: 'page', pathname };
}

/** Views whose answer has another path in the API. */
const ELSEWHERE: readonly (readonly [view: RegExp, path: string])[] = [
  [/^\/?$/, '/pools'],
  [/^\/runs\/[^/]+$/, '$&/why'],
];

const listAt = (pathname: string): string => {
  const [view, path] = ELSEWHERE.find(([one]) => one.test(pathname)) ?? [/$/, ''];
  return `/api/v1${pathname.replace(view, path)}`;
};

const withoutPrefix = (path: string, prefix: string): string =>
  prefix !== '' && (path === prefix || path.startsWith(`${prefix}/`))
    ? path.slice(prefix.length) || '/'
    : path;

/** Whoever takes anything is a browser, or a person with a tool who wants to see the page. */
function prefersJson(accept = ''): boolean {
  const json = weightOf(accept, 'application/json');
  return json > 0 && json > weightOf(accept, 'text/html');
}

/** Of a media type that the header names; 0: it does not. */
function weightOf(accept: string, type: string): number {
  const parts = accept
    .split(',')
    .map((part) => part.split(';').map((text) => text.trim().toLowerCase()));
  const named = parts.find(([name]) => name === type);
  if (named === undefined) return 0;
  const weight = named.find((text) => text.startsWith('q='))?.slice('q='.length) ?? '1';
  return Number(weight) || 0;
}
