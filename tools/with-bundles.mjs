// Preloaded by `node --import`: services start from bundles then, like those of the tests.
import { rmSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { bundlePrograms } from './bundle-programs.mjs';

if (isMainThread) {
  const { folder } = await bundlePrograms();
  process.env.PADDOCK_TEST_PROGRAMS = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
