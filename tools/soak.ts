// Draws new cases for all tests with random ones, round after round, and says how to repeat a
// failure. `pnpm soak [MINUTES]`: ten by default; it finishes the round under way. Ctrl-C ends it
// at once.
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
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
  const counts = { passed: 0, failed: 0 };
  while (performance.now() < until) {
    const seed = String(randomInt(2 ** 31));
    const output = await runTests(files, seed);
    // The closing line of a run, for those who count: N passed, N failed, N skipped.
    const [, passed = '0', failed = '1'] = /^(\d+) passed, (\d+) failed/m.exec(output) ?? [];
    counts.passed += Number(passed);
    counts.failed += Number(failed);
    process.stdout.write(`seed ${seed}: ${passed} passed, ${failed} failed\n`);
    if (failed === '0') continue;
    process.stdout.write(`${output}\n`);
    const failing = output.matchAll(/^FAIL (?:\S+ )?(\S+\.test\.ts)/gm).map(([, file]) => file);
    for (const file of new Set(failing))
      process.stdout.write(`again: PADDOCK_SEED=${seed} npx -y pnpm@12 jest ${file}\n`);
  }
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, 0 skipped\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

/** Runs the tests with cases drawn from `seed`. Resolves with their whole output. */
function runTests(files: readonly string[], seed: string): Promise<string> {
  const env = { ...process.env, PADDOCK_SEED: seed };
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [...JEST, ...files],
      { env, maxBuffer: Infinity },
      (_, out, errors) => resolve(out + errors),
    ),
  );
}
