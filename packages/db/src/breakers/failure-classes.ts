/** Failures of a cluster that did not answer. */
export const AWAY = 'away';

/**
 * Refusals by GitHub, written by `refusals.ts`. They open no breaker, and any success ends them.
 */
export const REFUSED = 'refused';

/**
 * Waits that GitHub asked for, written by `waits.ts`. Every call checks them itself. They open no
 * breaker, need no trial, and no success ends them.
 */
export const RATE_LIMITED = 'rate_limited';

/**
 * Failures of a pool that a created pod disproves: the cluster refuses its pods. Their text comes
 * from the pool's template and from our own names. So no entity can cause them, and they always
 * count against the pool.
 */
export const POD_REFUSED = 'pod_refused';
