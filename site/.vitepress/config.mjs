import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { defineConfig } from 'vitepress';
import { PAGES, SITE } from '../pages.mjs';

/** Where the sources are. A workflow knows its repository. */
const BLOBS = `https://github.com/${process.env.GITHUB_REPOSITORY ?? 'OWNER/REPOSITORY'}/blob/main/`;

/** Where on the site a page of the sources is. */
const pathOf = (page) => {
  if (page === 'README.md') return 'index.md';
  if (!page.includes('/')) return `project/${page.toLowerCase()}`;
  return page.replace(/^docs\//, '').replace(/README\.md$/, 'index.md');
};

/** The anchor that GitHub gives a heading, which the pages link. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

const titleOf = (page) => /^# (.+)$/m.exec(readFileSync(join(SITE, page), 'utf8'))?.[1] ?? page;

const entries = (pages) =>
  pages.map((page) => ({ text: titleOf(page), link: `/${pathOf(page).replace(/\.md$/, '')}` }));

const PARTS = readFileSync(join(SITE, 'README.md'), 'utf8')
  .split(/^\| To (?=do|know)/m)
  .slice(1)
  .map((table) => table.split('\n\n', 1)[0]);
/** The pages that a table of README links, in its order. */
const linkedBy = (table) => [
  ...new Set([...table.matchAll(/\]\((docs\/[\w-]+\.md)/g)].map(([, page]) => page)),
];
const inFolder = (folder) => PAGES.filter((page) => page.startsWith(`${folder}/`));

export default defineConfig({
  title: 'Paddock',
  description: 'Ephemeral GitHub Actions runners on Kubernetes',
  srcDir: 'pages',
  outDir: 'dist',
  // A project's pages are below its name, as https://acme.github.io/paddock/.
  base: process.env.SITE_BASE ?? '/',
  cleanUrls: false,
  lastUpdated: false,
  rewrites: Object.fromEntries(PAGES.map((page) => [page, pathOf(page)])),
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    config(md) {
      md.core.ruler.push('links-to-sources', ({ tokens, env }) => {
        const page = relative(SITE, env.realPath ?? env.path);
        for (const { children } of tokens)
          for (const token of children ?? []) {
            const href = token.attrGet('href');
            if (href === null || /^(?:[a-z]+:|#)/.test(href)) continue;
            const [path, anchor] = href.split('#');
            const file = path === '' ? page : join(dirname(page), path);
            const to = PAGES.includes(file) ? `/${pathOf(file)}` : `${BLOBS}${file}`;
            token.attrSet('href', `${to}${anchor === undefined ? '' : `#${anchor}`}`);
          }
      });
      const inline = md.renderer.rules.code_inline;
      md.renderer.rules.code_inline = (tokens, index, ...rest) => {
        tokens[index].attrSet('v-pre', ''); // Vue would work out `{{ … }}`.
        return inline(tokens, index, ...rest);
      };
      const asWritten = md.renderer.rules.html_block;
      md.renderer.rules.html_block = (tokens, index, ...rest) =>
        bothPictures(tokens[index].content) ?? asWritten(tokens, index, ...rest);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Install', link: '/install' },
      { text: 'API', link: '/reference' },
      { text: 'Compare', link: '/compare' },
    ],
    sidebar: [
      { text: 'To do', items: entries(linkedBy(PARTS[0])) },
      { text: 'To know', items: entries(linkedBy(PARTS[1])) },
      {
        text: 'Reference',
        items: entries(['docs/reference.md', 'docs/compare.md', 'CHANGELOG.md']),
      },
      { text: 'Alerts', items: entries(inFolder('docs/alerts')) },
      { text: 'Inside', items: entries(['ARCHITECTURE.md', ...inFolder('docs/inside')]) },
      { text: 'Decisions', items: entries(inFolder('docs/adr')) },
    ],
  },
});

/** A picture follows the theme of the page, not that of the system. */
function bothPictures(html) {
  const [, dark] = /<source [^>]*srcset="([^"]+)"/.exec(html) ?? [];
  const [, alt, light] = /<img alt="([^"]+)" src="([^"]+)"/.exec(html) ?? [];
  if (dark === undefined || light === undefined) return undefined;
  const picture = (src, only) => `<img class="${only}" alt="${alt}" src="./${src}" loading="lazy">`;
  return picture(light, 'only-light') + picture(dark, 'only-dark');
}
