// Draws new cases for all tests with random ones, round after round, and says how to repeat a
// failure. `pnpm soak [MINUTES]`: ten by default; it finishes the round under way. Ctrl-C ends it
// at once.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

const JEST = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
const minutes = Number(process.argv[2] ?? 10);

if (!(minutes > 0)) {
  process.stderr.write('Usage: pnpm soak [MINUTES]   (10 unless said)\n');
  process.exitCode = 2;
} else {
  const files = globSync('{apps,packages,test}/**/src/**/*.test.ts', {
    exclude: ['**/node_modules/**'],
  }).filter((file) => readFileSync(file, 'utf8').includes('/random-cases'));
  process.stdout.write(`${files.length} files with random cases, for ${minutes} minutes\n`);
  const until = performance.now() + minutes * 60_000;
  const rounds = { passed: 0, failed: 0 };
  while (performance.now() < until) {
    const seed = String(randomInt(2 ** 31));
    const env = { ...process.env, PADDOCK_SEED: seed };
    // Jest names what fails, and ends with a line of counts.
    const { status } = spawnSync(process.execPath, [...JEST, ...files], { env, stdio: 'inherit' });
    rounds[status === 0 ? 'passed' : 'failed'] += 1;
    if (status !== 0)
      process.stdout.write(`again: PADDOCK_SEED=${seed} npx -y pnpm@12 jest FILE\n`);
  }
  process.stdout.write(`${rounds.passed} passed, ${rounds.failed} failed, 0 skipped\n`);
  process.exitCode = rounds.failed === 0 ? 0 : 1;
}
