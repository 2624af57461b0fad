import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { PageFiles } from './page-files.ts';

/** Only our own files run, and nothing becomes markup that came as text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const SAFE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Sends the page, which is the same for everyone: what it shows, it asks the API for. */
export function sendPage(
  response: ServerResponse,
  page: PageFiles | undefined,
  { pathname, prefix }: { pathname: string; prefix: string },
): void {
  if (page === undefined) return sendText(response, 404, NOT_BUILT);
  // A proxy that has taken an unknown prefix off is no obstacle to a relative way.
  const up = prefix === '' ? '../'.repeat(pathname.split('/').length - 2) || './' : `${prefix}/`;
  write(
    response,
    page.has(pathname) ? 200 : 404,
    page.html.replaceAll('UPassets/', `${up}assets/`),
    {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      vary: 'accept',
    },
  );
}

/** A file’s name changes with its content, so that browsers keep it. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  page: PageFiles | undefined,
  name: string,
): void {
  const file = page?.files.get(name);
  if (file === undefined) return sendText(response, 404, 'There is no such file.');
  const isGzipped = /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '');
  write(response, 200, isGzipped ? file.gzipped : file.bytes, {
    'content-type': file.type,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
    ...(isGzipped && { 'content-encoding': 'gzip' }),
  });
}

const NOT_BUILT = 'The page has not been built: run `pnpm build console`. The API is at /api/v1.';

const sendText = (response: ServerResponse, status: number, text: string): void =>
  write(response, status, `${text}\n`, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
  });

function write(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    ...SAFE_HEADERS,
    ...headers,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
