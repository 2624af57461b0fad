const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * A length of time in its two largest units, as `3 min 20 s`; from ten minutes on, seconds tell
 * nothing. Clocks differ: what is negative is nothing.
 */
export function duration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < SECOND) return length === 0 ? '0 s' : '< 1 s';
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`;
  if (length >= 10 * MINUTE && length < HOUR) return `${Math.floor(length / MINUTE)} min`;
  if (length < HOUR) return two(length, MINUTE, 'min', SECOND, 's');
  return length < DAY ? two(length, HOUR, 'h', MINUTE, 'min') : two(length, DAY, 'd', HOUR, 'h');
}

function two(length: number, large: number, one: string, small: number, other: string): string {
  const rest = Math.floor((length % large) / small);
  const whole = `${Math.floor(length / large)} ${one}`;
  return rest === 0 ? whole : `${whole} ${rest} ${other}`;
}
