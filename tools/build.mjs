// Bundles each app, or those that are named, with all that it imports into apps/*/dist/main.mjs: its
// image needs Node and that one file. The same sources give the same bytes in any folder.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { buildPage, bundle } from './bundle.mjs';

const [MAJOR, MINOR] = JSON.parse(readFileSync('package.json', 'utf8')).engines.node.match(/\d+/g);

/**
 * Images have the right version. Elsewhere an older Node would fail at some line of the bundle,
 * without naming the cause.
 */
const BANNER = `{
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < ${MAJOR} || (major === ${MAJOR} && minor < ${MINOR})) {
    console.error('Paddock needs Node.js ${MAJOR}.${MINOR} or newer and was started with ' + process.versions.node + '.');
    process.exit(1);
  }
}`;

const named = process.argv.slice(2);
const all = readdirSync('apps').filter(
  (app) => app !== 'demo' && existsSync(`apps/${app}/src/main.ts`),
);

for (const app of named.length > 0 ? named : all) {
  const input = `apps/${app}/src/main.ts`;
  const { output } = await bundle(input, {
    file: `apps/${app}/dist/main.mjs`,
    codeSplitting: false,
    banner: BANNER,
  });
  console.log(`apps/${app}/dist/main.mjs ${(output[0].code.length / 1e6).toFixed(1)} MB`);
  if (app === 'console') await buildPage('apps/console/dist');
}
