import type { Account, Repository, RunnerGroup } from './accounts.ts';

export type RunnerScope = { readonly owner: Account; readonly repository?: Repository };

/** A message from the runner service to a connected runner. */
export type RunnerMessage =
  | {
      readonly type: 'job';
      readonly jobId: number;
      readonly name: string;
      readonly durationMs: number;
      readonly result: JobResult;
    }
  | { readonly type: 'cancel' }
  | { readonly type: 'deleted' }
  | { readonly type: 'version_ended' };

/** The end of a job if no fault stops its runner. */
export type JobResult = 'success' | 'failure';

/**
 * registered (no session yet) → idle → busy; offline when the session broke. No map holds a runner
 * that is done.
 */
export type RunnerState = 'registered' | 'idle' | 'busy' | 'offline';

export type Runner = {
  readonly id: number;
  readonly name: string;
  readonly scope: RunnerScope;
  readonly labels: readonly string[];
  readonly lowerLabels: ReadonlySet<string>;
  readonly group: RunnerGroup;
  readonly secret: string;
  readonly registeredAt: number;
  state: RunnerState;
  /** The JIT config allows only one session. */
  configUsed: boolean;
  /** As the runner reported it when it connected. */
  version: string | null;
  jobId: number | null;
  send: ((message: RunnerMessage) => void) | null;
};

/** The record of a registration, which stays after the registration is gone. */
export type RunnerRecord = {
  readonly id: number;
  readonly name: string;
  readonly scope: string;
  readonly labels: readonly string[];
  readonly registeredAt: string;
  /**
   * Set if the runners that were idle or coming when it was made sufficed for the queued jobs that
   * it could serve. The function says whether that still holds when only some of those coming count
   * (`comes`).
   */
  readonly isCovered: ((comes: (runner: Runner) => boolean) => boolean) | null;
  readonly jobIds: number[];
  goneAt: string | null;
};

export function describeScope({ owner, repository }: RunnerScope): string {
  return repository === undefined ? owner.login : `${owner.login}/${repository.name}`;
}

export function runnersOf(
  runners: ReadonlyMap<number, Runner>,
  { owner, repository }: RunnerScope,
): Runner[] {
  return [...runners.values()].filter(
    ({ scope }) => scope.owner === owner && scope.repository === repository,
  );
}

/** The version of a runner whose image does not name one. */
export const NEWEST_VERSION = '2.337.0';

/**
 * Versions that GitHub knows, with the end of each; null: none is set yet. As GitHub answered on
 * 2026-09-29.
 */
export const KNOWN_VERSIONS: Readonly<Record<string, string | null>> = {
  '2.329.0': '2026-01-23T17:10:35Z',
  '2.333.1': '2026-06-30T15:52:45Z',
  '2.335.1': '2026-09-24T15:30:55Z',
  [NEWEST_VERSION]: null,
};
