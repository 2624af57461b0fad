import { NOT_ASSIGNED, OUTDATED_RUNNER } from '../workers/stop-reasons.ts';
import type { WaitReason } from './wait-reasons.ts';

/** What a worker of a key shows, from the weakest to the strongest: each includes those before. */
const PROOFS = ['registered', 'pod_created', 'started', 'assigned'] as const;

/** What shows that the failures of a class are over. */
export type Proof = (typeof PROOFS)[number];

/** The pauses of a demand key whose workers fail, in milliseconds. */
export interface FailureRules {
  /** Doubled by each further failure. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

export const USUAL_FAILURE_RULES: FailureRules = { firstPauseMs: 30_000, longestPauseMs: 900_000 };

/** How the failures of one class hold back their demand key. */
interface FailureClass {
  readonly endsWith: Proof;
  /** This many failures without a success between them pause the key. */
  readonly strikes: number;
  /** Why the key's jobs wait meanwhile. */
  readonly reason: WaitReason;
  /** It passes by itself, so the second pause is the longest. */
  readonly passes?: true;
  /**
   * A moment's outage meets all workers that are in the making, so only work that began after the
   * last failure counts.
   */
  readonly isShared?: true;
}

/** The class of a registration that GitHub answered with 5xx, or not at all. */
export const GITHUB_ERROR = 'github_error';
/** GitHub refuses to register a runner (403, 404). News of the entity or the repository end it too. */
export const GITHUB_REFUSED = 'github_refused';
/** The class of a creation that the cluster refuses. */
export const POD_REFUSED = 'pod_refused';
/** The class of a creation that failed and may pass: a webhook is away, an object has changed. */
export const CLUSTER_ERROR = 'cluster_error';

const CLASSES: Readonly<Record<string, Partial<FailureClass>>> = {
  [GITHUB_ERROR]: { endsWith: 'registered', passes: true, isShared: true },
  [GITHUB_REFUSED]: { endsWith: 'registered', isShared: true, reason: 'installation_refused' },
  invalid: { endsWith: 'registered' },
  conflict: { endsWith: 'registered' },
  unusable: { endsWith: 'registered' },
  // Room in a quota comes by itself. A trial is a dry run, which costs no registration.
  [POD_REFUSED]: { endsWith: 'pod_created', passes: true },
  [CLUSTER_ERROR]: { endsWith: 'pod_created', passes: true, isShared: true },
  image_pull: { endsWith: 'started', passes: true },
  container_config: { endsWith: 'started', passes: true },
  node_refused: { endsWith: 'started', passes: true },
  pending_timeout: { endsWith: 'started' },
  // One log may be a stranger's words; two runners that say the same are none.
  [OUTDATED_RUNNER]: { strikes: 2, reason: 'runner_outdated' },
  // The first failure has the worker replaced.
  [NOT_ASSIGNED]: { strikes: 2, reason: 'github_does_not_assign' },
};

/** A class that is not listed needs a worker that gets a job. */
export const failureClass = (name: string): FailureClass => ({
  endsWith: 'assigned',
  strikes: 3,
  reason: 'workers_failing',
  ...CLASSES[name],
});

/** A person has to look at the workflow or the group: that takes longer. */
const SLOWER = { first: 20, longest: 8 };

/** The first and the longest pause of a class, in milliseconds. */
export function pausesOf(
  name: string,
  { firstPauseMs, longestPauseMs }: FailureRules,
): FailureRules {
  if (name === NOT_ASSIGNED)
    return {
      firstPauseMs: SLOWER.first * firstPauseMs,
      longestPauseMs: SLOWER.longest * longestPauseMs,
    };
  const longest = failureClass(name).passes ? 2 * firstPauseMs : longestPauseMs;
  return { firstPauseMs, longestPauseMs: Math.min(longest, longestPauseMs) };
}

/** The classes whose failures a proof shows to be over; undefined: all. */
export function classesEndedBy(proof: Proof): readonly string[] | undefined {
  if (proof === 'assigned') return undefined;
  const shown = new Set<Proof>(PROOFS.slice(0, PROOFS.indexOf(proof) + 1));
  return Object.keys(CLASSES).filter((name) => shown.has(failureClass(name).endsWith));
}
