import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Imports of the functions that start programs. */
const RUNS_PROGRAMS =
  /from '[^']*(start-system|run-demo|ingress\.scene|executor-processes\.scene|testing\/processes|node:child_process)(\.ts)?'/;

/**
 * Files that run programs mostly wait, and the others mostly compute. So they begin by turns, each
 * kind longest first: else a processor would idle, or the longest would run last.
 */
export default class ByTurns extends Sequencer {
  sort(tests) {
    // By their time in the last run, else by their size.
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = super.sort(tests);
    const [wait, compute] = [true, false].map((runs) =>
      sorted.filter(({ path }) => RUNS_PROGRAMS.test(readFileSync(path, 'utf8')) === runs),
    );
    return sorted.flatMap((_, index) => [wait[index], compute[index]].filter(Boolean));
  }
}
