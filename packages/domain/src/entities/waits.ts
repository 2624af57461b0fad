/** The caller as GitHub sees it: an App that speaks for itself, or its installation on an entity. */
export type Caller =
  | { readonly appId: number }
  | { readonly appId: number; readonly entityId: number; readonly installationId: number };

/** GitHub's request to a caller to make no calls for a while. */
export interface Wait {
  readonly ms: number;
  /** GitHub's words, free of credentials. */
  readonly message: string;
  /** Only calls that count against this hourly budget; all calls where it is absent. */
  readonly resource?: string;
}

/**
 * The waits that GitHub has asked for, shared by all processes. Clients ask it before each call,
 * and report each answer that names a wait. Of several waits the longest counts.
 */
export interface Waits {
  /** The wait before a call against this budget; undefined: the call may be made now. */
  left(caller: Caller, resource: string): Promise<Pick<Wait, 'ms' | 'message'> | undefined>;
  /** Never rejects: the answer that names the wait may hold a secret that is sent only once. */
  note(caller: Caller, wait: Wait): Promise<void>;
}
