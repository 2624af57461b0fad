/** A task as its handler sees it. */
export interface Task {
  /** Also the id of the operation that people see. */
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly type: string; readonly id: string; readonly name: string | null };
  readonly payload: unknown;
  /** 1 on the first run. A run that snoozed, and one whose executor died, does not count. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly deliveryGuid: string | null;
  /** Rises with every claim: a holder with a lower fence has lost the task. */
  readonly fence: number;
  /**
   * The share of the claim that is left, from 1 down to 0, by the monotonic clock since the last
   * renewal. At a third the executor interrupts the run. Check it before an outside call that must
   * not happen twice.
   */
  claimLeft(): number;
}
