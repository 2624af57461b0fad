// Fails if a page is too large, or leads to a heading or a file that is not there.
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const DIST = join(import.meta.dirname, 'dist');
const BASE = process.env.SITE_BASE ?? '/';
/** Of a page with its scripts and styles, as it travels, without pictures. */
const MOST_BYTES = 200_000;

const sizes = new Map();
/** How many bytes a file has when it travels. */
function sizeOf(file) {
  if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(file)).length);
  return sizes.get(file);
}

const fileOf = (page, path) =>
  path.startsWith('/') ? join(DIST, path.slice(BASE.length)) : join(dirname(page), path);
const isFile = (file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
const captures = (text, pattern) => [...text.matchAll(pattern)].map(([, captured]) => captured);

const pages = globSync('**/*.html', { cwd: DIST }).map((page) => join(DIST, page));
const idsOf = new Map(
  pages.map((page) => [page, new Set(captures(readFileSync(page, 'utf8'), / id="([^"]+)"/g))]),
);
const wrong = [];
let largest = 0;

for (const page of pages) {
  const html = readFileSync(page, 'utf8');
  const parts = captures(html, /<(?:script|link)\b[^>]*?(?:src|href)="([^"]+\.(?:js|css))"/g);
  const size = [page, ...new Set(parts.map((part) => fileOf(page, part)))].reduce(
    (sum, file) => sum + sizeOf(file),
    0,
  );
  largest = Math.max(largest, size);
  if (size > MOST_BYTES) wrong.push(`${page} has ${size} bytes: at most ${MOST_BYTES} are allowed`);
  for (const link of captures(html, /<(?:a|img)\b[^>]*?(?:href|src)="([^"]+)"/g)) {
    if (/^(?:[a-z]+:|\/\/)/.test(link)) continue;
    const [path, anchor] = link.split('#');
    const found = path === '' ? page : fileOf(page, path.replace(/[?].*$/, ''));
    const file = isFile(found) ? found : join(found, 'index.html');
    if (!isFile(file)) wrong.push(`${page} leads to ${link}, which is not there`);
    else if (anchor && idsOf.get(file)?.has(decodeURIComponent(anchor)) === false)
      wrong.push(`${page} leads to ${link}: there is no such heading`);
  }
}

console.log(`${pages.length} pages; the largest has ${largest} bytes with its scripts and styles.`);
if (pages.length < 50) wrong.push('There are too few pages.');
for (const one of wrong) console.error(one);
process.exitCode = wrong.length === 0 ? 0 : 1;
