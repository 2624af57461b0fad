import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request } from 'express';
import type { Reply } from './http/reply.ts';

/** What `pnpm build` makes of the page: one file, beside the program in its image. */
interface Built {
  /** With `UPassets/` where the way to the console’s root goes. */
  readonly html: string;
  /** The paths of the page, as `/jobs/{job}`. */
  readonly paths: readonly string[];
  readonly files: Readonly<Record<string, { readonly type: string; readonly text: string }>>;
}

export interface PageFiles {
  readonly html: string;
  /** Of the paths at which the page has something. */
  readonly paths: readonly RegExp[];
  readonly files: ReadonlyMap<string, Built['files'][string] & { readonly gzipped: Buffer }>;
}

/**
 * Undefined: the page was not built, as where only the API runs. `program` is the folder of `main`.
 * `hasProvider`: the page leads to an identity provider, too.
 */
export async function loadPage(
  program: string,
  hasProvider: boolean,
): Promise<PageFiles | undefined> {
  // Beside the bundle in an image; else where `pnpm build` puts it.
  for (const folder of [program, join(program, '..', 'dist')]) {
    const text = await readFile(join(folder, 'page.json'), 'utf8').catch(ignoreAbsence);
    if (text === undefined) continue;
    const { html, paths, files } = JSON.parse(text) as Built;
    const compressed = Object.entries(files).map(
      async ([name, file]) =>
        [name, { ...file, gzipped: await promisify(gzip)(file.text) }] as const,
    );
    return {
      html: hasProvider ? html.replace('<html', '<html data-provider') : html,
      paths: paths.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`)),
      files: new Map(await Promise.all(compressed)),
    };
  }
  return undefined;
}

function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

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
    status: page.paths.some((pattern) => pattern.test(path)) ? 200 : 404,
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
    text: isGzipped ? file.gzipped : file.text,
  };
}

const NOT_BUILT = 'No page is built: run `npx -y pnpm@12 build console`. The API is at /api/v1.';

const textReply = (text: string): Reply => ({
  status: 404,
  headers: { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=utf-8' },
  text: `${text}\n`,
});
