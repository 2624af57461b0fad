// Runs a command whose services start from bundles, like those of the tests: `node
// tools/with-bundles.mjs node bench/src/main.ts faults`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { bundlePrograms } from './bundle-programs.mjs';

const [command, ...args] = process.argv.slice(2);
const programs = await bundlePrograms();
try {
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, PADDOCK_TEST_PROGRAMS: programs.folder },
  });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await programs.remove();
}
