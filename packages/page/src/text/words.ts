import { duration } from '@paddock/domain/text/duration';

/** `1 job`, `2 jobs`, `1 234 jobs`. */
export const count = (many: number, one: string, more = `${one}s`): string =>
  `${number(many)} ${many === 1 ? one : more}`;

/** With thin spaces, so that thousands are seen. */
export const number = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ');

/** As the API names what no pool serves. */
export const NO_POOL = '(none)';

export const poolName = (pool: string): string => (pool === NO_POOL ? 'no pool fits' : pool);

/** A measured value: below 10 with one decimal, so that a little is not nothing. */
export function amount(value: number): string {
  if (value > 0 && value < 0.05) return '< 0.1';
  return value > 0 && value < 9.95 ? value.toFixed(1) : number(Math.round(value));
}

/** A stored word as people read it: `at_pool_cap` is `at pool cap`. */
export const plain = (word: string): string => word.replaceAll('_', ' ');

const TONES: Readonly<Record<string, readonly string[]>> = {
  good: ['success', 'idle', 'ended', 'OK', 'installed', 'good'],
  busy: ['running', 'busy', 'RUNNING'],
  wait: ['waiting', 'pending', 'QUEUED', 'suspended', 'refused'],
  bad: ['failure', 'timed out', 'action required', 'startup failure', 'failed', 'stuck', 'ERROR'],
};

/** How a state feels. Undefined: it is over. */
export const toneOf = (state: string): string | undefined =>
  Object.keys(TONES).find((tone) => TONES[tone]?.includes(state));

export const percent = (share: number | null): string =>
  share === null ? '–' : share > 0 && share < 0.01 ? '< 1 %' : `${Math.round(share * 100)} %`;

/** Overrides, embeddings and isolates: they turn the direction of what follows them. */
const TURNS = /[\u202A-\u202E\u2066-\u2069]/g;

/** Names come from strangers: what would turn our own words is shown as its escape, `\u202e`. */
export const withoutTurns = (text: string): string => text.replaceAll(TURNS, escaped);

/** Reads an answer, without such characters. Undefined: it is no JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll(TURNS, (turn) => `\\${escaped(turn)}`));
  } catch {
    return undefined;
  }
}

const escaped = (turn: string): string => `\\u${turn.charCodeAt(0).toString(16)}`;

const SECOND = 1_000;

/** How long ago an instant was; one just ahead of this clock is `now`. */
export function ago(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (ms < -5 * SECOND) return `in ${duration(-ms)}`;
  return ms < SECOND ? 'now' : `${duration(ms)} ago`;
}

/** Until an instant: `now` for a minute once it is past, and then how long it is. */
export const until = (at: string, now: number): string =>
  Math.abs(Date.parse(at) - now + 30 * SECOND) <= 31 * SECOND ? 'now' : ago(at, now);

export const between = (from: string, to: string | null, now: number): string =>
  duration((to === null ? now : Date.parse(to)) - Date.parse(from));

/** An instant to the second, as `2026-01-31 09:00:05`: in UTC, or in the zone of the browser. */
export function instant(at: string, isLocal = false): string {
  const date = new Date(at);
  const shiftMs = isLocal ? date.getTimezoneOffset() * 60 * SECOND : 0;
  return new Date(date.getTime() - shiftMs).toISOString().slice(0, 19).replace('T', ' ');
}

/** An instant in UTC, as exact as a chart of these: `09:05`; over days, `01-31 09:05`, `01-31`. */
export function instantIn(seconds: number, instants: readonly number[]): string {
  const iso = new Date(seconds * 1_000).toISOString();
  const [first = 0, second = first] = instants;
  const spanS = (instants.at(-1) ?? first) - first;
  const time = iso.slice(11, 16);
  if (second - first >= 86_400) return iso.slice(5, 10);
  return spanS <= 86_400 ? time : `${iso.slice(5, 10)}${time === '00:00' ? '' : ` ${time}`}`;
}

/**
 * Text with its commands and instants. The terminal's command for a job names that job, which here is
 * a link.
 */
export const partsOf = (
  said: string,
): (string | { readonly at: string } | { readonly job: string } | { readonly code: string })[] =>
  said.split(/(`[^`]*`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/).map((part, index) => {
    if (index % 2 === 0) return part;
    // A stranger's words may look like an instant.
    if (!part.startsWith('`')) return Number.isNaN(Date.parse(part)) ? part : { at: part };
    const [, job] = /^`paddock why (\d+)`$/.exec(part) ?? [];
    return job === undefined ? { code: part.slice(1, -1) } : { job };
  });
