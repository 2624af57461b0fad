import type { Item } from '../answers.ts';
import { plain } from '../text/words.ts';

/** A worker’s state in a word: a running one is idle until it has a job. */
export function stateOf({ state, stuck, job }: Item<'listWorkers'>): string {
  if (state === 'pending' && stuck !== null) return 'stuck';
  if (state === 'running') return job === null ? 'idle' : 'busy';
  return state;
}

/** Why it is as it is, in a word and shortly; empty: there is nothing to say. */
export const remarkOf = ({ failure, stuck, stop }: Item<'listWorkers'>): string =>
  [...new Set([plain(stuck?.reason ?? stop?.reason ?? ''), failure])].filter(Boolean).join(': ');

/** What the page draws of a diagnosis, whose shape is the scheduler’s. */
export interface Diagnosis {
  readonly message?: string;
  readonly pod?: { readonly conditions: readonly Condition[] };
  readonly containers?: readonly Container[];
  readonly events?: readonly {
    readonly reason: string;
    readonly message: string;
    readonly source: string;
    readonly count: number;
  }[];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string | null;
  readonly message: string | null;
}

interface Container {
  readonly name: string;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly message: string | null;
  readonly log: string | null;
}

const listed = (parts: readonly (string | null)[]): string => parts.filter(Boolean).join(', ');

/** As `Ready is False: ContainersNotReady`. */
export function conditionInWords({ type, status, reason, message }: Condition): string {
  const why = listed([reason, message]);
  return `${type} is ${status}${why === '' ? '' : `: ${why}`}`;
}

/** How a container ended, as `exit code 1, OOMKilled`. */
export const endOf = ({ exitCode, reason, message }: Container): string =>
  listed([exitCode === null ? null : `exit code ${exitCode}`, reason, message]);
