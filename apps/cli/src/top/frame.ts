import { newestFailures } from '@paddock/domain/text/newest-failures';
import { columns, printable } from '../columns.ts';
import { describeBreaker, poolName } from '../pools.ts';
import { clip } from './clip.ts';
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
  const age = (since: string | null) => (since === null ? null : ageAt(at, since));
  return [
    section(
      [
        'POOL',
        'WAITING',
        'OLDEST',
        'STARTING',
        'IDLE',
        'BUSY',
        'STOPPING',
        'CAP',
        'P50',
        'P95',
        'HELD BY',
      ],
      pools
        .toSorted((a, b) => b.demand.waiting - a.demand.waiting)
        .map(({ name, inForce, demand, supply, cap, lastHour, breakers }) => [
          poolName({ name, inForce }),
          demand.waiting,
          age(demand.oldestSince),
          supply.starting,
          supply.idle,
          supply.busy,
          supply.stopping,
          cap === null ? null : `${cap.used}/${cap.limit}`,
          duration(lastHour.queuedP50Ms),
          duration(lastHour.queuedP95Ms),
          breakers.map(describeBreaker).join('; ') || null,
        ]),
      'No pools have been loaded.',
    ),
    section(
      ['JOBS', 'WAIT BECAUSE', 'OLDEST', 'POOLS'],
      waits.map(({ jobs, reason, oldestSince, pools: named }) => [
        jobs,
        reason ?? 'their workers are on the way',
        age(oldestSince),
        named.join(', '),
      ]),
      'No job waits.',
    ),
    section(
      ['FAILED', 'AGO', 'NAME', 'OF', 'BECAUSE'],
      newestFailures(failed.workers, failed.operations).map(
        ({ what, at: since, name, of, why }) => [what, age(since), name, of, why],
      ),
      'Nothing has failed in the last day.',
    ),
  ];
}

function section(
  heads: readonly string[],
  rows: Parameters<typeof columns>[1],
  nothing: string,
): Section {
  const [head = '', ...lines] = columns(heads, rows, nothing).trimEnd().split('\n');
  return { head, rows: lines };
}

const ageAt = (at: string, since: string): string | null =>
  duration(Math.max(0, Date.parse(at) - Date.parse(since)));

/** In two units at most, as `4m 12s`; null: it is not known. */
function duration(ms: number | null): string | null {
  if (ms === null) return null;
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
