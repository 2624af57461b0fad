/** A task to enqueue. A queued task of the same kind and subject serves for this one too. */
export interface NewTask {
  readonly kind: string;
  /** What the task is about, e.g. `{ type: 'worker', id: podName }`; operations are found by it. */
  readonly subject: { readonly type: string; readonly id: string; readonly name?: string };
  /**
   * A JSON object of ids only: the handler reads what may change. Of two requests for one task with
   * `since`, an instant as text, the earlier one counts.
   */
  readonly payload?: unknown;
  /** How long the task waits before it is due, in milliseconds; at once if absent. */
  readonly dueInMs?: number;
  /** How many runs may fail; 5 if absent. */
  readonly maxAttempts?: number;
  /** How many crashes of its executor a task survives; 3 if absent. */
  readonly maxCrashes?: number;
  readonly origin?: 'MANUAL' | 'AUTOMATIC';
  readonly requestedBy?: string;
  readonly deliveryGuid?: string;
}

export const DEFAULT_MAX_ATTEMPTS = 5;
export const DEFAULT_MAX_CRASHES = 3;
