import type { WaitReason } from '../matching/wait-reasons.ts';
import type { NearestPool } from '../pools/pools-document.ts';

export interface JobFacts {
  readonly jobId: number;
  readonly demandKey: number;
  readonly name: string;
  readonly url: string | null;
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  /** It is demand. */
  readonly wantsWorker: boolean;
  /** Since when GitHub has not shown its repository; null: it does. */
  readonly hiddenSince: Date | null;
  /** The entity's login today. */
  readonly login: string;
  readonly entityId: number;
  readonly repoFullName: string;
  /** 0: its workers register at the organisation. */
  readonly scopeRepoId: number;
  readonly pool: string;
  readonly queuedAt: Date | null;
  /** When Paddock first knew it. */
  readonly knownSince: Date;
  /** When its row last changed: a job may begin to wait again. */
  readonly changedAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly conclusion: string | null;
  readonly runnerName: string | null;
  /** Our worker that runs it. */
  readonly podName: string | null;
  /** Why we failed it. */
  readonly failure: string | null;
  /** Why our worker failed that ran it; null: it has not, or none of ours ran it. */
  readonly workerFailure: string | null;
}

/** The row of `demand_keys`: what the last pass found. */
export interface KeyFacts {
  readonly waitReason: string | null;
  readonly waitSince: Date | null;
  readonly waiting: number;
  readonly unassigned: number;
  readonly updatedAt: Date;
}

/** A worker of the key that can take a job, or ends. */
export interface WorkerFacts {
  readonly name: string;
  readonly createdAt: Date;
  readonly hasBegunRegistration: boolean;
  readonly isRegistered: boolean;
  readonly hasPod: boolean;
  readonly isRunning: boolean;
  readonly isOffline: boolean;
  readonly isStopping: boolean;
  readonly isUnschedulable: boolean;
  /** Why its pod does not start or go. */
  readonly stuckReason: string | null;
  /** What its pod shows, or why the last try to make it came to nothing. */
  readonly diagnosis: string | null;
}

/** A worker that should go, and has not for a minute: it keeps its place under the caps. */
export interface HeldWorkerFacts {
  readonly name: string;
  readonly entityId: number;
  readonly pool: string;
  readonly scopeRepoId: number;
  readonly heldBy: string;
  readonly since: Date;
}

export interface CapFacts {
  readonly kind: 'at_entity_cap' | 'at_common_cap' | 'at_pool_cap' | 'at_repository_cap';
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  /** Of these workers, the longest held first. */
  readonly held?: readonly HeldWorkerFacts[];
}

/** A person holds the making of workers back: `environment`, `pool:NAME` or `entity:ID`. */
export interface SwitchFacts {
  readonly subject: string;
  readonly by: string;
  readonly since: Date;
  readonly note: string | null;
}

/** Workers of the job's key failed before they had a job, since the last success. */
export interface FailingFacts {
  /** The class of the failures, as `image_pull`. */
  readonly reason: string;
  readonly failures: number;
  readonly since: Date;
  /** Null: it was not paused yet. */
  readonly pausedUntil: Date | null;
  /** Of the last failure. */
  readonly message: string;
}

/** A service does not answer, as our own probe says. */
export interface OutageFacts {
  /** `github`, or a cluster's name. */
  readonly service: string;
  readonly since: Date;
  readonly message: string;
}

/** What GitHub has told us of the App, the entity or the repository of the job. */
export interface ToldFacts {
  readonly reason: WaitReason;
  /** Past: it is asked again with the next worker. */
  readonly until: Date;
  readonly message: string;
}

/** How many waiting jobs became known before this one. */
export interface PlaceFacts {
  /** 1: no waiting job of its key is older. */
  readonly position: number;
  /** Waiting jobs of its key. */
  readonly of: number;
  /** Older jobs of its entity in other keys: they spend the same entity's cap. */
  readonly olderOfEntity: number;
  /** Older jobs of other entities in its pool: they share the same pool's cap. */
  readonly olderOfPool: number;
}

export interface LastStarts {
  readonly jobs: number;
  /** From GitHub's queue until their start. */
  readonly medianMs: number;
}

export interface EarlierReason {
  readonly reason: string;
  readonly since: Date;
  readonly until: Date;
}

/** All that the answer for a job of our rows depends on, at one instant. */
export interface WaitFacts {
  readonly now: Date;
  readonly job: JobFacts;
  /** Null: no pass has seen that its jobs wait. */
  readonly key: KeyFacts | null;
  /** Null: the job is no demand. */
  readonly place: PlaceFacts | null;
  readonly workers: readonly WorkerFacts[];
  /** Null: none started lately. */
  readonly lastStarts: LastStarts | null;
  /** None until a scheduler has stored its settings. */
  readonly caps: readonly CapFacts[];
  readonly switches: readonly SwitchFacts[];
  readonly failing: FailingFacts | null;
  readonly outages: readonly OutageFacts[];
  /** What ends last first. */
  readonly told: readonly ToldFacts[];
  /** What GitHub said of the installation's registrations, while it holds. */
  readonly budget: { readonly remaining: number; readonly resetAt: Date } | null;
  /** What GitHub says of the runner group of the key. */
  readonly group: {
    readonly name: string;
    readonly excess: string | null;
    /** Null: GitHub lets us have no group of that name. */
    readonly visibility: string | null;
    /** Null: any. */
    readonly workflows: readonly string[] | null;
    /** It takes jobs only of selected repositories, and this one is none of them. */
    readonly lacksRepository: boolean;
  } | null;
  /** Since when the App is suspended on the entity, or gone from it. */
  readonly lostApp: { readonly app: number; readonly at: Date } | null;
  /** Runners of the key that ended well without a known job, for as long as that counts. */
  readonly unexplained: number;
  readonly withoutNode: number;
  /** Of its key while it waited, the latest first. */
  readonly earlier: readonly EarlierReason[];
  /** For a job that no pool serves now. */
  readonly nearest: NearestPool | null;
}
