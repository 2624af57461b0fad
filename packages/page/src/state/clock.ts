import { signal } from '@preact/signals';

/** How far the server’s clock is ahead of this one, in milliseconds. */
let ahead = 0;

/** The time at the server, in milliseconds. It moves once a second while it is looked at. */
export const now = signal(Date.now());

/** Takes the server’s time from an answer, which has it to the second. */
export function setClock(date: string | null): void {
  const at = Date.parse(date ?? '');
  if (Number.isNaN(at)) return;
  const seen = at - Date.now();
  // Within a second the two may well agree.
  if (Math.abs(seen - ahead) > 1_500) ahead = seen;
}

/** Moves the clock on, unless the person has paused the page or looks elsewhere. */
export function runClock(isResting: () => boolean): void {
  setInterval(() => {
    if (!isResting()) now.value = Date.now() + ahead;
  }, 1_000);
}
