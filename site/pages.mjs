import { globSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
/** The pages as the generator reads them, where they are in the sources. */
export const SITE = join(import.meta.dirname, 'pages');

/** What the site is made of. */
export const SOURCES = globSync(['*.md', 'docs/**/*.md', 'deploy/helm/paddock/README.md'], {
  cwd: ROOT,
}).toSorted();

/** The page that is written from the API's description. */
export const REFERENCE = 'docs/reference.md';

export const PAGES = [...SOURCES, REFERENCE];
