import { setTimeout as sleep } from 'node:timers/promises';
import type { Beginning, Progress } from './fault.ts';
import type { Stage } from './stage.ts';

/** From one share of the queued jobs to another. */
export type Window = readonly [from: number, to: number];
export const FIRST_THIRD: Window = [0, 1 / 3];
export const MIDDLE: Window = [1 / 3, 2 / 3];
export const WHOLE: Window = [0, 1];

/**
 * A state of the world within a window only. A window that starts at the beginning holds before the
 * first job is queued.
 */
export const within = (
  window: Window,
  start: (stage: Stage) => Promise<unknown>,
  end: (stage: Stage) => Promise<unknown>,
): Beginning => {
  const [from, to] = window;
  return async (stage, progress) => {
    if (from === 0) await start(stage);
    return async () => {
      if (from > 0) {
        await progress.reached(from);
        await start(stage);
      }
      await progress.reached(to);
      const ended = end(stage);
      // After the outage, the next deliveries show ingress that it missed some: a slow start must
      // not miss them all.
      progress.holdUp(ended);
      await ended;
      progress.over();
    };
  };
};

export const forEach = async (
  { environments }: Stage,
  act: (environment: Stage['environments'][number]) => Promise<unknown>,
) => void (await Promise.all(environments.map(act)));

export const during =
  (act: (stage: Stage, progress: Progress) => Promise<void>): Beginning =>
  (stage, progress) =>
    Promise.resolve(() => act(stage, progress));

const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 500;

/** Waits until the condition holds; throws `otherwise` after three minutes. */
export async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(otherwise);
    await sleep(LOOK_EVERY_MS);
  }
}
