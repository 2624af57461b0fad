import type { Item } from '../answers.ts';
import { count, number } from '../text/words.ts';

export type Minutes = NonNullable<Item<'listPools'>['minutes']>;

/** The instants of the hour, in seconds since 1970, as charts take them. */
export const instantsOf = ({ at, waiting: { length } }: Minutes): number[] =>
  Array.from({ length }, (_, n) => Date.parse(at) / 1_000 - (length - 1 - n) * 60);

/** The greatest value; 0 without any. */
export const greatest = (...lines: readonly (readonly (number | null)[])[]): number =>
  lines.flat().reduce<number>((most, value) => Math.max(most, value ?? 0), 0);

/** The hour in a sentence, for those who do not see its picture. */
export function inWords({ waiting, workers }: Minutes): string {
  const jobs = `${number(waiting.at(-1) ?? 0)} waiting`;
  return `Last hour: ${said(jobs, waiting)}, ${said(count(workers.at(-1) ?? 0, 'worker'), workers)}`;
}

const said = (now: string, line: readonly (number | null)[]): string =>
  `${now} now and at most ${number(greatest(line))}`;

/** Points of an SVG line in a field of 60 to 20; a gap where nothing is known. */
export function lineOf(values: readonly (number | null)[], most: number): string {
  let isBegun = false;
  return values
    .map((value, n) => {
      if (value === null) {
        isBegun = false;
        return '';
      }
      const point = `${isBegun ? 'L' : 'M'}${n} ${round(19 - (18 * value) / Math.max(1, most))}`;
      isBegun = true;
      return point;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 10) / 10;
