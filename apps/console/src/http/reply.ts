import type { OutgoingHttpHeaders } from 'node:http';
import type { Response } from 'express';

/** An answer before it is sent. */
export interface Reply {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The body: JSON, unless `content-type` says otherwise. */
  readonly text: string | Buffer;
}

/** One mistake of an input, and its place, as `query.limit`. */
export interface Mistake {
  readonly place: string;
  readonly message: string;
}

/** Problem details (RFC 9457). */
export const problem = (
  status: number,
  title: string,
  detail: string,
  { headers = {}, errors }: { headers?: OutgoingHttpHeaders; errors?: readonly Mistake[] } = {},
): Reply => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  text: `${JSON.stringify({ type: 'about:blank', title, status, detail, errors })}\n`,
});

/** Answers are for one caller, and are data: a browser runs, frames and keeps nothing of them. */
export const SAFE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function send(response: Response, { status, headers, text }: Reply): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...SAFE_HEADERS,
    ...headers,
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
