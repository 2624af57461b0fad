import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import type { Progress } from '../progress.ts';
import { furnish } from '../send-jobs.ts';
import type { System } from '../start-system.ts';
import type { NoStop, Sight, Stop } from './stop.ts';
import { OTHERS, REASONS } from './stops.ts';
import { TOUR_OWNERS } from './tour-platform.ts';
import { createWorld, type TourWorld } from './world.ts';

interface Tour {
  system: System;
  db: Kysely<Database>;
  progress: Progress;
}

/** Each state that was reached, in the order of the tables, and what was not. */
export interface TourEnd {
  readonly sights: readonly (readonly [state: string, Sight])[];
  readonly missed: readonly string[];
}

/** Brings jobs into every state worth seeing, and tells where each can be seen. */
export async function playTour(
  { system, db, progress }: Tour,
  signal: AbortSignal,
): Promise<TourEnd> {
  progress.say('\nThe tour brings jobs into every state worth seeing, which takes a minute.');
  const installations = await furnish(system.github, TOUR_OWNERS);
  const world = createWorld(system, db, { installations, signal });
  const stops = [...Object.entries(REASONS), ...Object.entries(OTHERS)].filter(isStop);
  const sights = new Map<string, Sight>();
  const missed: string[] = [];
  const play = async ([state, stop]: readonly [string, Stop]): Promise<void> => {
    try {
      sights.set(state, await see(world, state, stop));
      progress.say(`  ${state}: ${stop.cause}`);
    } catch (error) {
      if (signal.aborted) return;
      missed.push(`${state}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  // 1. What holds back everything, and what passes: one after the other.
  for (const [state, stop] of stops) {
    if (stop.pass === undefined || signal.aborted) continue;
    await play([state, stop]);
    await stop.pass(world);
  }
  // 2. What lasts: all together.
  await Promise.all(stops.filter(([, { pass }]) => pass === undefined).map(play));

  return {
    sights: stops.flatMap(([state]) => {
      const sight = sights.get(state);
      return sight === undefined ? [] : [[state, sight] as const];
    }),
    missed,
  };
}

const isStop = (entry: [string, Stop | NoStop]): entry is [string, Stop] => 'play' in entry[1];

/** Causes a state, and waits until the console says so. */
async function see(world: TourWorld, state: string, stop: Stop): Promise<Sight> {
  const played = await stop.play(world);
  if (typeof played === 'number') {
    const { sentence } = await world.untilWhy(
      played,
      (answer) =>
        stop.says.test(answer.sentence) && (!(state in REASONS) || answer.reason === state),
    );
    return { path: `/jobs/${played}`, sentence };
  }
  if (!stop.says.test(played.sentence)) throw new Error(`it says: ${played.sentence}`);
  return played;
}

/** For people: each state, what the page says of it, and where. */
export function tellTour({ sights, missed }: TourEnd, consoleUrl: string | undefined): string {
  const seen = sights.map(
    ([state, { path, sentence }]) => `  ${state}\n    ${sentence}\n    ${consoleUrl}${path}`,
  );
  const lines = [`\nThe console shows ${sights.length} states:`, ...seen];
  if (missed.length > 0)
    lines.push('\nThe tour did not reach these:', ...missed.map((one) => `  ${one}`));
  return lines.join('\n');
}
