import type { Request } from 'express';
import type { Reply } from '../http/reply.ts';
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

const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-frame-options': 'DENY',
};

/** The page, which is the same for everyone: what it shows, it asks the API for. */
export function pageAt(page: PageFiles | undefined, { path }: Request, prefix: string): Reply {
  if (page === undefined) return textReply(NOT_BUILT);
  // A proxy that has taken an unknown prefix off is no obstacle to a relative way.
  const up = prefix === '' ? '../'.repeat(path.split('/').length - 2) || './' : `${prefix}/`;
  return {
    status: page.has(path) ? 200 : 404,
    headers: {
      ...PAGE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      vary: 'accept',
    },
    text: page.html.replaceAll('UPassets/', `${up}assets/`),
  };
}

/** A file’s name changes with its content, so that browsers keep it. */
export function fileAt(page: PageFiles | undefined, request: Request): Reply {
  const file = page?.files.get(request.path.slice('/assets/'.length));
  if (file === undefined) return textReply('There is no such file.');
  const isGzipped = request.acceptsEncodings('gzip') === 'gzip';
  return {
    status: 200,
    headers: {
      ...PAGE_HEADERS,
      'content-type': file.type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(isGzipped && { 'content-encoding': 'gzip' }),
    },
    text: isGzipped ? file.gzipped : file.bytes,
  };
}

const NOT_BUILT = 'The page has not been built: run `pnpm build console`. The API is at /api/v1.';

const textReply = (text: string): Reply => ({
  status: 404,
  headers: { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=utf-8' },
  text: `${text}\n`,
});
