import { API } from '@paddock/api/endpoints';
import { styleText } from 'node:util';
import { newestFailures } from '@paddock/domain/text/newest-failures';
import type { Asker } from '../asker.ts';
import { columns } from '../columns.ts';
import { ageOf, poolTable } from '../pool-table.ts';

export type Fleet = Awaited<ReturnType<typeof readFleet>>;

const NEWEST = { from: '-24h', limit: 10 } as const;

export async function readFleet(asker: Asker) {
  const [pools, waits, workers, operations] = await Promise.all([
    asker.ask(API.listPools, {}),
    asker.ask(API.countActive, { by: 'reason' }),
    asker.ask(API.listWorkers, { ...NEWEST, state: 'failed' }),
    asker.ask(API.listOperations, { ...NEWEST, status: 'ERROR', handled: 'false' }),
  ]);
  return {
    at: new Date().toISOString(),
    pools: pools.items,
    waits: waits.items,
    failed: { workers: workers.items, operations: operations.items },
  };
}

/** A table with a head line. Its first rows matter most. */
interface Section {
  readonly head: string;
  readonly rows: readonly string[];
}

export const describeFleet = (fleet: Fleet): string =>
  sectionsOf(fleet)
    .map(({ head, rows }) => [head, ...rows, ''].join('\n'))
    .join('\n');

/** The lines of a screen: as much of the fleet as fits, under `title` and above `trouble`. */
export function frame(
  fleet: Fleet,
  { title, trouble }: { readonly title: string; readonly trouble: string },
  height: number,
): string[] {
  const sections = sectionsOf(fleet);
  const last = trouble === '' ? [] : [styleText('red', trouble)];
  const free = height - 1 - last.length - 2 * sections.length;
  const lines = sections.flatMap(({ head, rows }, n) =>
    ['', styleText('bold', head)].concat(shortened(rows, roomOf(n, sections, free))),
  );
  return [styleText('bold', title), ...lines.slice(0, height - 1 - last.length), ...last];
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

function sectionsOf({ pools, waits, failed }: Fleet): Section[] {
  return [
    poolTable({ items: pools.toSorted((a, b) => b.demand.waiting - a.demand.waiting) }),
    columns(
      ['JOBS', 'WAIT BECAUSE', 'OLDEST', 'POOLS'],
      waits.map(({ waiting, reason, oldestSince, pools: named }) => [
        waiting,
        reason === 'none' ? 'their workers are on the way' : reason,
        oldestSince && ageOf(oldestSince),
        named.join(', '),
      ]),
      'No job waits.',
    ),
    columns(
      ['FAILED', 'AGO', 'NAME', 'OF', 'BECAUSE'],
      newestFailures(failed.workers, failed.operations).map(
        ({ what, at: failedAt, name, of, why }) => [what, ageOf(failedAt), name, of, why],
      ),
      'Nothing has failed in the last day.',
    ),
  ].map((table) => {
    const [head = '', ...rows] = table.trimEnd().split('\n');
    return { head, rows };
  });
}
