/** The operator's settings for a pass of matching. */
export interface MatchingSettings {
  /** The Apps that are configured here: no other can register a runner. */
  readonly appIds: readonly number[];
  /** When this many workers of a pool find no node, no more are made for it. */
  readonly unschedulableLimit: number;
  /** How often one more is tried nevertheless, in milliseconds. */
  readonly trialEveryMs: number;
  /** Most registrations of one installation in a minute: GitHub's secondary limit. */
  readonly registrationsPerMinute: number;
  /** How long a registered worker without a job is left alone, in milliseconds. */
  readonly surplusAfterMs: number;
  /**
   * How long a warm worker is kept, in milliseconds: GitHub forgets a registration after an idle
   * day.
   */
  readonly warmLifetimeMs: number;
  /** Pauses for a key whose idle workers get no job from GitHub. */
  readonly unservedPauses: UnservedPauses;
  /** Most workers that one pass makes; by default `MOST_PER_PASS`. */
  readonly most?: number;
}

/** How long no more workers are made for a key, in milliseconds: doubled each time. */
export interface UnservedPauses {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/** Keeps the transaction short: 13 000 took 7 s on a busy machine, and all other passes wait. */
export const MOST_PER_PASS = 1_000;
