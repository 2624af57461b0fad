import { build } from 'rolldown';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Bundles programs, given by name and path, with all that they import. Returns the written files.
 */
export const bundle = (input, output) =>
  build({
    input,
    platform: 'node',
    external: ['pg-native'],
    optimization: { inlineConst: false }, // A test changes the number of a constant.
    output: { format: 'esm', sourcemap: true, ...output },
  });

const PAGE = join(import.meta.dirname, '..', 'packages', 'page');
const read = (name) => readFileSync(join(PAGE, name), 'utf8');

/**
 * Builds the console's page into one file that the console serves: FOLDER/page.json has its HTML,
 * its paths, and its script, styles and icon by names that change with their content.
 */
export async function buildPage(folder) {
  const { PATHS } = await import('../packages/page/src/paths.ts');
  const [script, ...parts] = await bundleScripts();
  const style = named('page.css', 'text/css; charset=utf-8', styles());
  const icon = named('icon.svg', 'image/svg+xml', read('src/icon.svg'));
  const html = [script, style, icon].reduce(
    (text, { given, name }) => text.replace(given, `UPassets/${name}`),
    read('src/page.html'),
  );
  const files = Object.fromEntries(
    [script, ...parts, style, icon].map(({ name, type, text }) => [name, { type, text }]),
  );
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'page.json');
  // Another process may be reading it.
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify({ html, paths: PATHS, files }));
  renameSync(unfinished, path);
}

/** The script of every view, then what it fetches when it is needed. */
async function bundleScripts() {
  const { output } = await build({
    input: join(PAGE, 'src/main.tsx'),
    platform: 'browser',
    transform: { target: 'es2023' },
    write: false,
    output: {
      format: 'esm',
      minify: true,
      // Their names change with their content, and with that of what they fetch.
      hashCharacters: 'hex',
      entryFileNames: 'page-[hash:12].js',
      chunkFileNames: '[name]-[hash:12].js',
      comments: false,
    },
  });
  return output.map(({ fileName, code }) => ({
    given: 'page.js',
    type: 'text/javascript; charset=utf-8',
    text: code,
    name: fileName,
  }));
}

/** The charts' style, then ours in the order of their names, without comments and indents. */
function styles() {
  const ours = globSync('src/style/*.css', { cwd: PAGE }).toSorted();
  return ['node_modules/uplot/dist/uPlot.min.css', ...ours]
    .map(read)
    .join('\n')
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, '\n');
}

function named(given, type, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { given, type, text, name: given.replace('.', `-${hash}.`) };
}
