/** A fault for the next calls whose method and path match it. */
export type Fault = {
  /** Any method if absent. */
  readonly method?: string | undefined;
  /**
   * Source of a regular expression, matched with the path without the query and without a base path
   * such as `/api/v3`.
   */
  readonly path: string;
  /** Only the calls of this caller, such as `installation 7`. */
  readonly caller?: string | undefined;
  /** Only the calls for this page of a list. */
  readonly page?: number | undefined;
  /** The answer. Without a status the connection is cut, unless `hang` or `emptied` is set. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** How many matching calls fail; 1 by default. */
  readonly times?: number | undefined;
  /** How many matching calls pass before that: 2 makes the third call fail. */
  readonly after?: number | undefined;
  /** The simulator does the work first, and loses only its answer. */
  readonly afterCommit?: boolean | undefined;
  /** No answer ever comes; the connection stays open until the caller leaves. */
  readonly hang?: boolean | undefined;
  /** The list is empty, and says no less than usual how many items it has. */
  readonly emptied?: boolean | undefined;
};

/** What a fault is matched with. */
type FaultyCall = {
  readonly method: string;
  readonly path: string;
  readonly caller: string | undefined;
  readonly page: number;
};

/**
 * The fault of `faults` that this call runs into; counts it as used. Undefined when the call may
 * pass.
 */
export function takeFault(faults: Fault[], call: FaultyCall): Fault | undefined {
  for (const [index, fault] of faults.entries()) {
    if (!matches(fault, call)) continue;
    if ((fault.after ?? 0) > 0) {
      faults[index] = { ...fault, after: (fault.after ?? 0) - 1 };
      continue;
    }
    const left = (fault.times ?? 1) - 1;
    if (left > 0) faults[index] = { ...fault, times: left };
    else faults.splice(index, 1);
    return fault;
  }
  return undefined;
}

const matches = (fault: Fault, { method, path, caller, page }: FaultyCall): boolean =>
  (fault.method === undefined || fault.method.toUpperCase() === method.toUpperCase()) &&
  (fault.caller === undefined || fault.caller === caller) &&
  (fault.page === undefined || fault.page === page) &&
  new RegExp(fault.path).test(path);
