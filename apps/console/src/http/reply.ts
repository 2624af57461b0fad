import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The body: JSON, unless `content-type` says otherwise. */
  readonly text: string | Buffer;
  /** Sends what follows instead of a text, for as long as it wants. */
  readonly begin?: (response: ServerResponse) => void;
}

export interface Mistake {
  readonly place: string;
  readonly message: string;
}

interface More {
  readonly headers?: OutgoingHttpHeaders;
  readonly errors?: readonly Mistake[];
}

export const problem = (
  status: number,
  title: string,
  detail: string,
  { headers = {}, errors }: More = {},
): Reply => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  text: `${JSON.stringify({ type: 'about:blank', title, status, detail, errors })}\n`,
});

/** Answers are for one caller, and are data: a browser runs, frames and keeps nothing of them. */
const SAFE_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function send(response: ServerResponse, { status, headers, text, begin }: Reply): void {
  const head = { ...SAFE_HEADERS, ...headers };
  if (begin === undefined)
    response.writeHead(status, { ...head, 'content-length': Buffer.byteLength(text) }).end(text);
  else begin(response.writeHead(status, head));
}
