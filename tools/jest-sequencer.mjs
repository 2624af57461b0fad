import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Imports of the functions that start programs. */
const RUNS_PROGRAMS =
  /from '[^']*(start-system|run-demo|ingress\.scene|executor-processes\.scene|testing\/processes|node:child_process)(\.ts)?'/;

const ROOT = join(import.meta.dirname, '..');

/** Those that take longest, half a minute and more. Jest knows durations only after a first run. */
const LONGEST = [
  'test/src/page.db.test.ts',
  'test/src/rolling-upgrade.db.test.ts',
  'packages/queue/src/take-over.db.test.ts',
  'test/src/tour.db.test.ts',
  'apps/scheduler/src/away.db.test.ts',
  'apps/scheduler/src/matching/freedom.db.test.ts',
  'test/src/gaps.db.test.ts',
  'test/src/periodic-statements.db.test.ts',
  'test/src/replicas.db.test.ts',
  'apps/reconciler/src/redelivery/redeliver-faults.db.test.ts',
  'apps/ingress/src/database-failures.db.test.ts',
  'test/src/crash.db.test.ts',
].map((path) => join(ROOT, path));

for (const path of LONGEST)
  if (!existsSync(path))
    throw new Error(`${path} is not there: mend LONGEST in jest-sequencer.mjs`);

const rank = ({ path }) => (LONGEST.includes(path) ? LONGEST.indexOf(path) : LONGEST.length);

/**
 * Files that run programs mostly wait, and the others mostly compute. So they begin by turns, each
 * kind longest first: else a processor would idle, or the longest would run last.
 */
export default class ByTurns extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const known = super.sort(tests);
    const sorted = known.toSorted((one, other) => rank(one) - rank(other));
    const [wait, compute] = [true, false].map((runs) =>
      sorted.filter(({ path }) => RUNS_PROGRAMS.test(readFileSync(path, 'utf8')) === runs),
    );
    return sorted.flatMap((_, index) => [wait[index], compute[index]].filter(Boolean));
  }
}
