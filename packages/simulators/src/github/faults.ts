/** A fault for the next calls whose method and path match it. */
export type Fault = {
  /** Any method if absent. */
  readonly method?: string | undefined;
  /**
   * Source of a regular expression, matched with the path without the query and without a base path
   * such as `/api/v3`.
   */
  readonly path: string;
  /** The answer. Without a status the connection is cut, unless `hang` is set. */
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
};

/**
 * The fault of `faults` that this call runs into; counts it as used. Undefined when the call may
 * pass.
 */
export function takeFault(faults: Fault[], method: string, path: string): Fault | undefined {
  for (const [index, fault] of faults.entries()) {
    if (fault.method !== undefined && fault.method.toUpperCase() !== method.toUpperCase()) continue;
    if (!new RegExp(fault.path).test(path)) continue;
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
