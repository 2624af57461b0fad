import type { DatabaseConnection } from '@paddock/db/connection/connect';
import type { ListenOptions } from '@paddock/db/connection/listen';
import type { Secret } from '@paddock/runtime/secret';
import type { Backoff } from './backoff.ts';
import type { Keep } from './end-tasks.ts';
import type { ExecutorEvents } from './executor-events.ts';
import type { Kinds } from './kind.ts';

/** How tasks are run; executor-settings.ts gives all of them. */
export interface ExecutorRules {
  readonly claimMs: number;
  /** How often the queue is looked at without a notification. */
  readonly pollMs: number;
  /** Longest run of a task whose kind says nothing else. */
  readonly timeoutMs: number;
  /** For how long no task is taken over after the start and after PostgreSQL was away: its executor may be alive and only about to renew. */
  readonly takeOverPauseMs: number;
  readonly backoff: Backoff;
  /** How long finished operations are kept. */
  readonly keep: Keep;
  /** Scales the slots of all kinds; 0 runs nothing here. */
  readonly concurrencyPercent: number;
  /** How long running tasks may go on after the stop, before their claims are given back. Less than the process's own grace. */
  readonly drainMs: number;
}

export interface ExecutorOptions extends ExecutorRules {
  readonly connection: Pick<DatabaseConnection, 'db'>;
  /** For the heartbeat's and the listener's own connections; from `clientConfig`. */
  readonly config: ListenOptions['config'];
  readonly schema: string;
  readonly kinds: Kinds;
  /** Who we are, unique per process and start. */
  readonly holder: string;
  /** Values that are never stored, whatever a message or an output contains. */
  readonly secrets?: readonly Secret[];
  /** Gives [0, 1). */
  readonly random?: () => number;
  readonly events: ExecutorEvents;
}
