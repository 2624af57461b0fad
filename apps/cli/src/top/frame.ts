import { newestFailures } from '@paddock/domain/text/newest-failures';
import { columns, printable } from '../columns.ts';
import { poolTable } from '../pool-table.ts';
import type { Fleet } from './fleet.ts';

/** How much fits on the screen, and whether it has colours. */
export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly colours: boolean;
}

/** A table of which the first rows matter most. */
interface Section {
  readonly head: string;
  readonly rows: readonly string[];
}

/** The fleet as text, whole. */
export const describeFleet = (fleet: Fleet): string =>
  sectionsOf(fleet)
    .map(({ head, rows }) => [head, ...rows, ''].join('\n'))
    .join('\n');

/** The lines of a screen: as much of the fleet as fits, under `title` and above `trouble`. */
export function frame(
  fleet: Fleet,
  { title, trouble }: { readonly title: string; readonly trouble: string | undefined },
  { width, height, colours }: Screen,
): string[] {
  const sections = sectionsOf(fleet);
  const [bold, red] = colours ? [styled(1), styled(31)] : [plain, plain];
  const line = (text: string) => clip(text, width);
  const last = trouble === undefined ? [] : [red(line(trouble))];
  const free = height - 1 - last.length - 2 * sections.length;
  const lines = sections.flatMap(({ head, rows }, n) =>
    ['', bold(line(head))].concat(shortened(rows, roomOf(n, sections, free)).map(line)),
  );
  return [bold(line(title)), ...lines.slice(0, height - 1 - last.length), ...last];
}

/** The first section has what the others leave; each of these has at most a quarter. */
function roomOf(n: number, sections: readonly Section[], free: number): number {
  const share = (rows: readonly string[]) => Math.min(rows.length, Math.floor(free / 4));
  if (n > 0) return share(sections[n]?.rows ?? []);
  return free - sections.slice(1).reduce((sum, { rows }) => sum + share(rows), 0);
}

function shortened(rows: readonly string[], room: number): readonly string[] {
  if (rows.length <= room) return rows;
  const shown = rows.slice(0, Math.max(0, room - 1));
  return room < 1 ? [] : [...shown, `and ${rows.length - shown.length} more`];
}

const plain = (text: string): string => text;
const styled =
  (code: number) =>
  (text: string): string =>
    `\u001B[${code}m${text}\u001B[0m`;

function sectionsOf({ at, pools, waits, failed }: Fleet): Section[] {
  const since = (from: string | null) => (from === null ? null : ageAt(at, from));
  const demanding = pools.toSorted((a, b) => b.demand.waiting - a.demand.waiting);
  return [
    poolTable(demanding, { since, duration }),
    columns(
      ['JOBS', 'WAIT BECAUSE', 'OLDEST', 'POOLS'],
      waits.map(({ jobs, reason, oldestSince, pools: named }) => [
        jobs,
        reason ?? 'their workers are on the way',
        since(oldestSince),
        named.join(', '),
      ]),
      'No job waits.',
    ),
    columns(
      ['FAILED', 'AGO', 'NAME', 'OF', 'BECAUSE'],
      newestFailures(failed.workers, failed.operations).map(
        ({ what, at: failedAt, name, of, why }) => [what, since(failedAt), name, of, why],
      ),
      'Nothing has failed in the last day.',
    ),
  ].map((table) => {
    const [head = '', ...rows] = table.trimEnd().split('\n');
    return { head, rows };
  });
}

const ageAt = (at: string, since: string): string =>
  duration(Math.max(0, Date.parse(at) - Date.parse(since)));

/** In two units at most, as `4m 12s`. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 1_440
    ? `${Math.floor(minutes / 60)}h ${minutes % 60}m`
    : `${Math.floor(minutes / 1_440)}d ${Math.floor((minutes % 1_440) / 60)}h`;
}

/** What is asked, when it was answered, and how to end. */
export const titleOf = (name: string, { at }: Fleet, intervalMs: number): string =>
  printable(`paddock top · ${name} · ${at.slice(0, 19)}Z · every ${intervalMs / 1000} s · q ends`);

const CHARACTERS = new Intl.Segmenter();

/** Two cells of a terminal: emoji, and the scripts of East Asia. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;

/** The beginning of a line that fits into so many cells of a terminal. */
function clip(line: string, width: number): string {
  // No line of so few code units is longer than twice as many cells.
  if (line.length * 2 <= width) return line;
  let cells = 0;
  let shown = '';
  let shortest = '';
  for (const { segment } of CHARACTERS.segment(line)) {
    cells += WIDE.test(segment) ? 2 : 1;
    if (cells > width) return `${shortest}…`;
    shown += segment;
    // What leaves a cell for the sign that the line goes on.
    if (cells < width) shortest = shown;
  }
  return shown;
}
