import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';

/** What `pnpm build` makes of the page: one file, beside the program in its image. */
const built = z.object({
  /** With `UPassets/` where the way to the console’s root goes. */
  html: z.string(),
  /** The paths of the page, as `/jobs/{job}`. */
  paths: z.array(z.string()),
  files: z.record(z.string(), z.object({ type: z.string(), text: z.string() })),
});

/** A file in the form in which it is sent. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
}

export interface PageFiles {
  readonly html: string;
  /** Whether the page has something at this path. */
  has(pathname: string): boolean;
  readonly files: ReadonlyMap<string, PageFile>;
}

const NAME = 'page.json';

/**
 * Undefined: the page was not built, as where only the API runs. `program` is the folder of `main`.
 * `hasProvider`: the page leads to an identity provider, too.
 */
export async function loadPage(
  program: string,
  options: { readonly hasProvider: boolean },
): Promise<PageFiles | undefined> {
  // Beside the bundle in an image; else where `pnpm build` puts it.
  for (const folder of [program, join(program, '..', 'dist')]) {
    const text = await readFile(join(folder, NAME), 'utf8').catch(ignoreAbsence);
    if (text !== undefined) return toPageFiles(built.parse(JSON.parse(text)), options);
  }
  return undefined;
}

function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function toPageFiles(
  { html, paths, files }: z.output<typeof built>,
  { hasProvider }: { readonly hasProvider: boolean },
): Promise<PageFiles> {
  const known = paths.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
  const sent = await Promise.all(
    Object.entries(files).map(async ([name, { type, text }]) => {
      const bytes = Buffer.from(text);
      return [name, { type, bytes, gzipped: await promisify(gzip)(bytes) }] as const;
    }),
  );
  return {
    html: hasProvider ? html.replace('<html', '<html data-provider') : html,
    has: (pathname) => known.some((pattern) => pattern.test(pathname)),
    files: new Map(sent),
  };
}
