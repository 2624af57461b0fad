// Bundles the services of a made-up next version: `node tools/bundle-next-version.mjs FOLDER` writes
// FOLDER/ingress.mjs and so on. They are today's, but need one more migration.
import { join } from 'node:path';
import { bundle } from './bundle.mjs';

const [folder] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');

const nextSchema = {
  name: 'next-schema',
  transform(code, id) {
    if (!id.endsWith('/packages/db/src/schema-version.ts')) return null;
    const next = code.replace(/(SCHEMA_VERSION = )(\d+)/, (_, name, n) => name + (Number(n) + 1));
    if (next === code) throw new Error(`${id} has no SCHEMA_VERSION.`);
    return next;
  },
};

await bundle(
  Object.fromEntries(
    ['ingress', 'scheduler', 'reconciler'].map((app) => [app, `${root}/apps/${app}/src/main.ts`]),
  ),
  { dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
  [nextSchema],
);
