// Bundles the services as they were at a commit: `node tools/bundle-version.mjs COMMIT FOLDER`
// writes FOLDER/ingress.mjs and so on. Packages of others are those of today's install.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';

const [commit, folder] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const sources = join(folder, 'sources');

mkdirSync(sources, { recursive: true });
const packed = execFileSync('git', ['archive', commit, 'apps', 'packages'], {
  cwd: root,
  maxBuffer: 2 ** 28,
});
execFileSync('tar', ['-x', '-C', sources], { input: packed });

/** A package of ours is that commit's; one of others is looked for where today's sources are. */
const resolver = {
  name: 'sources-of-the-commit',
  resolveId(name, importer) {
    const [, ours, path] = /^@paddock\/([^/]+)\/(.+)$/.exec(name) ?? [];
    if (ours !== undefined) return join(sources, 'packages', ours, 'src', `${path}.ts`);
    if (!importer?.startsWith(sources) || /^[./]|^node:/.test(name)) return null;
    return this.resolve(name, importer.replace(sources, root), { skipSelf: true });
  },
};

await bundle(
  Object.fromEntries(
    ['ingress', 'scheduler', 'reconciler'].map((app) => [
      app,
      `${sources}/apps/${app}/src/main.ts`,
    ]),
  ),
  { dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
  [resolver],
);
