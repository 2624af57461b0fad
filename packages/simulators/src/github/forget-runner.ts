import type { Runner } from './runner.ts';
import { isoNow, type World } from './world.ts';

/** Ends a registration; its record remains. */
export function forgetRunner(world: World, runner: Runner): void {
  world.runners.delete(runner.id);
  const record = world.runnerRecords.get(runner.id);
  if (record !== undefined) record.goneAt = isoNow(world);
}
