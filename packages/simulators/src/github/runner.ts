import type { Account, Repository, RunnerGroup } from './account.ts';

export type RunnerScope = { readonly owner: Account; readonly repository?: Repository };

/** What the runner service tells a connected runner. */
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

/** How a job ends when its runner is left in peace. */
export type JobResult = 'success' | 'failure';

/**
 * registered (no session yet) → idle → busy; offline when the session broke. A runner that is done
 * is in no map any more.
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
  /** The JIT config admits one session, ever. */
  configUsed: boolean;
  /** As it said when it connected. */
  version: string | null;
  jobId: number | null;
  send: ((message: RunnerMessage) => void) | null;
};

/** What is remembered of a registration after it is gone. */
export type RunnerRecord = {
  readonly id: number;
  readonly name: string;
  readonly scope: string;
  readonly labels: readonly string[];
  readonly registeredAt: string;
  /**
   * Set if, at its making, runners idle or on their way already sufficed for the queued jobs it
   * could serve: whether they still do when of those on their way only some count (`comes`).
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
