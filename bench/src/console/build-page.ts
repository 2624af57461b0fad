import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const BUILD = `import(${JSON.stringify(join(ROOT, 'tools', 'build-page.mjs'))}).then((tool) => tool.buildPage(process.argv[1]))`;

/** Builds the page where the console looks for it. The bundler runs in a process of its own. */
export const buildPage = () =>
  promisify(execFile)(process.execPath, ['-e', BUILD, join(ROOT, 'apps', 'console', 'dist')]);
