import type { DatabaseConnection } from '@paddock/db/connection/connect';
import type { ListenOptions } from '@paddock/db/connection/listen';
import type { Service } from '@paddock/runtime/reach';
import type { Secret } from '@paddock/runtime/secret';
import type { Backoff } from './backoff.ts';
import type { Keep } from './end-tasks.ts';
import type { ExecutorEvents } from './executor-events.ts';
import type { Kinds } from './kind.ts';

/** How an executor runs tasks. `executorRules` reads them from the settings. */
export interface ExecutorRules {
  /** How long a claim lasts without a heartbeat. */
  readonly claimMs: number;
  /** How often to check the queue without a notification. */
  readonly pollMs: number;
  /** Longest run of a task whose kind has no limit. */
  readonly timeoutMs: number;
  /**
   * How long to take nothing over after the start and after PostgreSQL was away. A live executor
   * may still be about to renew.
   */
  readonly takeOverPauseMs: number;
  readonly backoff: Backoff;
  /** How long to keep finished operations. */
  readonly keep: Keep;
  /** Scales the slots of all kinds; 0 runs nothing here. */
  readonly concurrencyPercent: number;
  /** How long running tasks may go on after the stop. Less than the process's drain limit. */
  readonly drainMs: number;
}

export interface ExecutorOptions extends ExecutorRules {
  readonly connection: Pick<DatabaseConnection, 'db'>;
  /** For the heartbeat's and the listener's own connections; from `clientConfig`. */
  readonly config: ListenOptions['config'];
  readonly schema: string;
  readonly kinds: Kinds;
  /** Whether a service is away from this process. Call `wake` when it is back. */
  readonly isAway?: (service: Service) => boolean;
  /** Names this process; unique per start. */
  readonly holder: string;
  /** Values to mask in stored messages and outputs. More may be added. */
  readonly secrets?: readonly Secret[];
  /** Gives [0, 1). */
  readonly random?: () => number;
  readonly events: ExecutorEvents;
}
