/** Failures of a cluster that did not answer. */
export const AWAY = 'away';

/**
 * What GitHub refuses us, as `refusals.ts` writes it: no breaker opens by it, and a success of any
 * kind ends it.
 */
export const REFUSED = 'refused';

/**
 * What GitHub has asked to wait for, as `waits.ts` writes it: every call asks for itself, so it
 * opens no breaker, needs no trial, and no success ends it.
 */
export const RATE_LIMITED = 'rate_limited';

/**
 * The pool's failures of which a created pod is the contrary: the cluster refuses its pods. They
 * are made of the pool's template and of our own names, so no entity can cause this, and it is the
 * pool's whosever worker met it.
 */
export const POD_REFUSED = 'pod_refused';
