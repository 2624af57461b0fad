/** A fault of a simulator, for the next calls whose method and path match it. */
export interface Fault {
  /** Any method if absent. */
  readonly method?: string | undefined;
  /** Source of a regular expression, matched with the path without the query. Absent: any path. */
  readonly path?: string | undefined;
  /** The status of the answer. Without it the connection is cut, if the fault says nothing else. */
  readonly status?: number | undefined;
  /** How many matching calls fail; 1 by default. */
  readonly times?: number | undefined;
  /** How many matching calls pass before that: 2 makes the third call fail. */
  readonly after?: number | undefined;
  /** The simulator does the work first, and loses only its answer. */
  readonly afterCommit?: boolean | undefined;
  /** No answer ever comes; the connection stays open until the caller leaves. */
  readonly hang?: boolean | undefined;
}

/**
 * The first of `faults` that strikes this call; counts it as used. Undefined: the call may pass.
 * `isMeant` has the conditions besides method and path.
 */
export function takeFault<F extends Fault>(
  faults: F[],
  { method, path }: { readonly method: string; readonly path: string },
  isMeant: (fault: F) => boolean,
): F | undefined {
  for (const [index, fault] of faults.entries()) {
    if (fault.method !== undefined && fault.method !== method) continue;
    if (!new RegExp(fault.path ?? '').test(path) || !isMeant(fault)) continue;
    const { after = 0, times = 1 } = fault;
    if (after > 0) faults[index] = { ...fault, after: after - 1 };
    else {
      if (times > 1) faults[index] = { ...fault, times: times - 1 };
      else faults.splice(index, 1);
      return fault;
    }
  }
  return undefined;
}
