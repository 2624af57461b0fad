// Says which test files of a folder run code that no other of them does, and which named mutants
// rely on each: `node tools/mutants/coverage.ts apps/scheduler`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readNamedMutants } from './named-mutants.ts';
import { runNode } from './run-node.ts';

interface Ran {
  readonly test: string;
  readonly failed: number;
  /** Offsets in the product's files. */
  readonly ran: Readonly<Record<string, readonly number[]>>;
}

const ROOT = join(import.meta.dirname, '..', '..');
const named = readNamedMutants();
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name a folder, as apps/scheduler');

const files = (await measure(folder)).map(({ test, failed, ran }) => ({
  test,
  failed,
  places: new Set(
    Object.entries(ran).flatMap(([file, at]) => at.map((offset) => `${file}:${offset}`)),
  ),
}));
const times = new Map<string, number>();
for (const { places } of files)
  for (const place of places) times.set(place, (times.get(place) ?? 0) + 1);

process.stdout.write('new    alone  mutants  file\n');
const covered = new Set<string>();
const left = [...files];
while (left.length > 0) {
  const rest = left.map((file) => ({ file, fresh: file.places.difference(covered).size }));
  const { file, fresh } = rest.reduce((best, one) => (one.fresh > best.fresh ? one : best));
  left.splice(left.indexOf(file), 1);
  for (const place of file.places) covered.add(place);
  const alone = [...file.places].filter((place) => times.get(place) === 1).length;
  const mutants = named.filter(({ tests }) => tests.includes(file.test)).length;
  process.stdout.write(
    `${String(fresh).padEnd(7)}${String(alone).padEnd(7)}${String(mutants).padEnd(9)}${file.test}${file.failed > 0 ? ' FAILED' : ''}\n`,
  );
}

/** Runs the folder's tests once; Jest counts each file's coverage by itself. */
async function measure(path: string): Promise<Ran[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'paddock-coverage-'));
  const output = join(scratch, 'ran');
  process.env['PADDOCK_COVERAGE_FILE'] = output;
  try {
    await runNode(
      [
        '--experimental-vm-modules',
        'node_modules/jest/bin/jest.js',
        '--coverage',
        '--coverageReporters',
        'none',
        '--coverageDirectory',
        scratch,
        '--reporters',
        '<rootDir>/tools/mutants/coverage-of-files.mjs',
        '--testPathPatterns',
        path,
      ],
      { cwd: ROOT, signal: new AbortController().signal },
    );
    return readFileSync(output, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Ran);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
