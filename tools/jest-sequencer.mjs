import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** Imports of what runs our programs. */
const RUNS_PROGRAMS = /from '[^']*(faults\/stage|start-system|ingress\.scene|executor-processes\.scene|testing\/processes)(\.ts)?'/;

/** A machine that has run the tests knows how long each file takes. On any other, those that wait for programs begin: else they were its end. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const rank = new Map(sorted.map((test) => [test, rankOf(readFileSync(test.path, 'utf8'))]));
    return sorted.toSorted((one, other) => rank.get(one) - rank.get(other));
  }
}

function rankOf(source) {
  const runs = RUNS_PROGRAMS.exec(source)?.[1];
  if (runs === undefined) return 2;
  return runs === 'faults/stage' ? 0 : 1;
}
