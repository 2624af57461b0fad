// Bundles the programs that tests start as processes: a start from sources costs three times the
// CPU time.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeTemporaryFolder,
  removeFolder,
} from '../packages/embedded-postgres/src/temporary-folder.ts';
import { buildPage, bundle } from './bundle.mjs';

const PROGRAMS = {
  ingress: 'apps/ingress/src/main.ts',
  scheduler: 'apps/scheduler/src/main.ts',
  reconciler: 'apps/reconciler/src/main.ts',
  console: 'apps/console/src/main.ts',
  executors: 'packages/queue/src/scenes/executor-program.scene.ts',
};

/**
 * V8's code of the first process that has worked for a while serves the next ones of its program: it
 * has the functions that were called until then, so one that ends early must not be the first.
 * Stacks name the bundle: to read source maps costs a third of a start.
 */
const starter = (name) => `import { existsSync, renameSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
const shared = join(import.meta.dirname, '${name}.compiled');
if (existsSync(shared)) enableCompileCache(shared);
else {
  const own = shared + process.pid;
  enableCompileCache(own);
  setTimeout(() => {
    flushCompileCache();
    if (!existsSync(shared)) renameSync(own, shared);
  }, 4_000).unref();
}
await import('./${name}.bundle.mjs');
`;

/**
 * Bundles the programs of this checkout, for this run alone; each can be started by NAME.mjs in the
 * folder.
 */
export async function bundlePrograms() {
  const folder = await makeTemporaryFolder();
  const remove = () => removeFolder(folder);
  try {
    await bundle(PROGRAMS, {
      dir: folder,
      entryFileNames: '[name].bundle.mjs',
      chunkFileNames: '[name]-[hash].mjs',
      sourcemap: false,
      minify: { mangle: false, compress: false }, // 40 % less to read; stacks keep the names.
    });
    await buildPage(folder);
    for (const name of Object.keys(PROGRAMS))
      await writeFile(join(folder, `${name}.mjs`), starter(name));
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, remove };
}
