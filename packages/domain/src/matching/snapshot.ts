import type { Reservation } from './pick-unwanted.ts';
import type { KeyDemand } from './caps.ts';
import type { Place } from './matching-rules.ts';
import type { LiveWorkers } from './share-room.ts';
import { NO_RULES, type StoredRules } from './stored-rules.ts';

/** Everything that a pass reads after its lock. Parts that a pass does not need are empty. */
export interface Snapshot {
  readonly rules: StoredRules;
  /** Keys with waiting jobs that lack workers, have reservations, or are not stored as they are. */
  readonly demand: readonly Demand[];
  /** When the oldest jobs of `findRivals` became known, in seconds; the oldest first. */
  readonly jobTimes: ReadonlyMap<number, readonly number[]>;
  readonly live: readonly LiveWorkers[];
  /** The live workers whose end has been asked for. */
  readonly stopping: readonly LiveWorkers[];
  /** The newest first. */
  readonly reservations: readonly Reservation[];
  /** Surplus workers that were asked to end and can serve again; the newest first. */
  readonly returnable: readonly Returnable[];
  readonly spare: readonly SpareKey[];
  readonly warm: readonly WarmKey[];
}

/** Nothing waits that is not served, and nothing is to spare. */
export const EMPTY_SNAPSHOT: Snapshot = {
  rules: NO_RULES,
  demand: [],
  jobTimes: new Map(),
  live: [],
  stopping: [],
  reservations: [],
  returnable: [],
  spare: [],
  warm: [],
};

/** How many workers to make for a key, and where. */
export interface WorkersToMake extends Omit<LiveWorkers, 'alive'> {
  readonly installationId: number;
  readonly count: number;
}

/** The counts from which it follows how many workers a key lacks, or has to spare. */
export interface KeyCounts {
  readonly waiting: number;
  readonly unassigned: number;
  /** Runners that ended well without a known job: each has surely run one of the waiting ones. */
  readonly unexplained: number;
}

/** Demand and supply of a key, and its row of `demand_keys` so far. */
export interface Demand extends Omit<KeyDemand, 'lacking'>, KeyCounts {
  readonly entityName: string;
  readonly stored: StoredState | null;
  /** The class of its workers' last failures; null: none since a success. */
  readonly failureClass: string | null;
  /** No node takes any of its unassigned workers. */
  readonly lacksNodes: boolean;
}

/** The row of `demand_keys` of a key, for people who ask why its jobs wait. */
export interface StoredState {
  readonly waiting: number;
  readonly unassigned: number;
  /** The tightest of its caps. */
  readonly cap: number | null;
  readonly waitReason: string | null;
}

/** A surplus worker that was asked to end. */
export interface Returnable extends Omit<LiveWorkers, 'alive'> {
  readonly podName: string;
}

/** A key with more unassigned workers than waiting jobs. */
export interface SpareKey extends Place {
  /** How many more unassigned workers than waiting jobs it has; at least 1. */
  readonly spare: number;
}

/** A key with configured warm workers. */
export interface WarmKey extends Omit<KeyDemand, 'lacking' | 'oldest'>, KeyCounts {
  /** How many are kept beyond what waiting jobs take. */
  readonly wanted: number;
  /** How many unassigned workers are marked as warm, at least. */
  readonly marked: number;
  /** Its marked workers that are too old, the oldest first. */
  readonly aged: readonly string[];
  /** How many of its workers are being replaced for their age. */
  readonly renewing: number;
}

/** How many more workers the waiting jobs of a key take. */
export const lackingOf = ({ waiting, unassigned, unexplained }: KeyCounts): number =>
  Math.max(0, waiting - unassigned - unexplained);

/** How many workers of a key no waiting job takes. */
export const spareOf = ({ waiting, unassigned, unexplained }: KeyCounts): number =>
  Math.max(0, unassigned - Math.max(0, waiting - unexplained));
