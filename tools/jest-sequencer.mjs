import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Imports of the functions that start our programs. */
const RUNS_PROGRAMS =
  /from '[^']*(start-system|ingress\.scene|executor-processes\.scene|testing\/processes)(\.ts)?'/;

/**
 * A machine that has run the tests knows how long each file takes. On any other machine, files that
 * wait for programs begin: else they would run last.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const [first = [], then = []] = [true, false].map((runs) =>
      sorted.filter(({ path }) => RUNS_PROGRAMS.test(readFileSync(path, 'utf8')) === runs),
    );
    return [...first, ...then];
  }
}
