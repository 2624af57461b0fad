/**
 * Why no more workers are made for a demand key whose jobs wait: `demand_keys.wait_reason`. A job's answer is its key's (C4, P5).
 * Stored as text, so that a new one needs no migration; this list is the documentation of all that are written.
 */
export const WAIT_REASONS = {
  pool_unknown: 'the pool is not in the configuration any more',
  pool_paused: 'the pool is paused by configuration',
  entity_not_allowed: 'the account is not among the configured entities any more',
  at_entity_cap: 'the account has as many workers as its maxWorkers allows',
  at_pool_cap: 'the pool has as many workers as its maxWorkers allows',
  at_repository_cap: 'the repository has as many workers as maxWorkersPerRepository of the pool allows',
} as const;
