import type { ApiCall, Verb } from './api-call.ts';

/** A fault for the next calls that match it. */
export interface Fault {
  readonly method?: string | undefined;
  readonly verb?: Verb | undefined;
  /**
   * Source of a regular expression, matched with the path without the query; any path if absent.
   */
  readonly path?: string | undefined;
  /** The answer, as a Status object. Without it the connection is cut, unless `hang` is set. */
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** How many matching calls fail; 1 by default. */
  readonly times?: number | undefined;
  /** How many matching calls pass before that: 2 makes the third call fail. */
  readonly after?: number | undefined;
  /** The simulator does the work first, and loses only its answer. */
  readonly afterCommit?: boolean | undefined;
  /**
   * The call succeeds, and its answer has this in a header `Warning`, as when the API server drops
   * fields.
   */
  readonly warning?: string | undefined;
  /** A list succeeds and is empty, like that of a server with an empty cache. */
  readonly empty?: boolean | undefined;
  /** No answer ever comes; the connection stays open until the caller leaves. */
  readonly hang?: boolean | undefined;
}

type FaultyCall = Pick<ApiCall, 'method' | 'verb' | 'path'>;

export interface Faults {
  add(fault: Fault): void;
  clear(): void;
  /** The fault that strikes this call, if any; counts it as used. */
  take(call: FaultyCall): Fault | undefined;
}

export function createFaults(): Faults {
  let pending: { fault: Fault; skip: number; left: number }[] = [];
  return {
    add: (fault) => pending.push({ fault, skip: fault.after ?? 0, left: fault.times ?? 1 }),
    clear: () => {
      pending = [];
    },
    take(call) {
      const hit = pending.find(({ fault }) => matches(fault, call));
      if (hit === undefined) return undefined;
      if (hit.skip > 0) {
        hit.skip--;
        return undefined;
      }
      hit.left--;
      if (hit.left <= 0) pending = pending.filter((entry) => entry !== hit);
      return hit.fault;
    },
  };
}

function matches(fault: Fault, call: FaultyCall): boolean {
  return (
    (fault.method === undefined || fault.method === call.method) &&
    (fault.verb === undefined || fault.verb === call.verb) &&
    (fault.path === undefined || new RegExp(fault.path).test(call.path))
  );
}
