import type { RuleValues } from '@paddock/runtime/rules';
import type { DeliveryFaults } from '@paddock/simulators/github/world';
import type { RunnerFaults } from '@paddock/simulators/kube/runner-faults';
import type { Stage } from '../stage/stage.ts';
import type { Signs } from './signs.ts';

/** How far the queueing of a run's jobs has come. */
export interface Progress {
  /** Share (0–1) of the jobs that are queued. */
  share(): number;
  /** Resolves when this share (0–1) of the jobs is queued. */
  reached(share: number): Promise<void>;
  /** Resolves when the board has named the cause, or has failed to; at once where it need not. */
  boardRead(): Promise<unknown>;
  /** Queues no more jobs until this has resolved. */
  holdUp(until: Promise<unknown>): void;
  /** The faulty part works again from now on; of several calls the last counts. */
  over(): void;
}

/**
 * Called before the first job is queued. The function that it resolves with runs meanwhile, and
 * repairs everything at its end.
 */
export type Beginning = (stage: Stage, progress: Progress) => Promise<() => Promise<void>>;

/** One job in five is of the one that the fault hits. */
export interface Hit {
  /** Its repositories, in turn. */
  readonly repositories: readonly string[];
  /** Its jobs ask for the pool of their own, which has few workers. */
  readonly ownPool?: true;
  /** How many further jobs it queues at once, before all others. */
  readonly first?: number;
  /** These are one run's. */
  readonly inOneRun?: true;
  /** GitHub does not announce them. */
  readonly unheard?: true;
}

/** Whether the jobs of a repository are those of the one that the fault hits. */
export const isHit = (hit: Hit | undefined, repository: string): boolean =>
  hit?.repositories.includes(repository) ?? false;

/** A fault of a run: settings of the simulators, and actions against the processes. */
export interface Fault {
  readonly name: string;
  /** The least signs that prove that it has struck. */
  readonly signs: Partial<Signs>;
  /** In force from the first job to the end. */
  readonly deliveries?: DeliveryFaults;
  readonly runners?: RunnerFaults;
  readonly busyLies?: boolean;
  /** Share (0–1) of the jobs for which another controller's runner comes, in a moment. */
  readonly rivalRate?: number;
  /** GitHub does not announce that some jobs are queued: some in a run that is known, and others. */
  readonly unannounced?: boolean;
  /**
   * After this share (0–1) of the jobs comes the only one of its repository. It shows whether its
   * own delivery is repeated.
   */
  readonly lone?: number;
  /** The one that the fault hits. All others must go on as if there were no fault. */
  readonly hit?: Hit;
  /** The first third of the jobs is one entity's. */
  readonly oneFirst?: true;
  /** Share (0–1) of the jobs that are cancelled soon after they are queued. */
  readonly cancelShare?: number;
  /** How long a job works, in milliseconds. */
  readonly jobMs?: readonly [least: number, most: number];
  /** Factor for the time in which all jobs are queued: each of many faults needs time to strike. */
  readonly stretch?: number;
  /** The time between two jobs, in milliseconds, where the fault has to last for long. */
  readonly betweenJobsMs?: number;
  /** Caps that a few jobs reach. They bound the excess workers, so most faults go without. */
  readonly tightCaps?: boolean;
  /** How many environments work beside each other; one by default. */
  readonly environments?: number;
  /** Share (0–1) of jobs that Paddock hears of late: it may make excess workers for them. */
  readonly excess?: number;
  /**
   * How many calls may be made during a wait that GitHub has named; none by default. A process that
   * is killed, or cut off from PostgreSQL, before it has stored the wait cannot tell the others.
   */
  readonly lostWaits?: number;
  /** Sweeps to pause, because they would hide the fault's effect. */
  readonly heldSweeps?: readonly string[];
  /** Rules of the services that the fault needs to strike. */
  readonly rules?: RuleValues;
  /** People wait for the fault's end: times are the defaults, and jobs come at an everyday pace. */
  readonly atUsualTimes?: boolean;
  /** Its services reach PostgreSQL through a tunnel, which the stage then has. */
  readonly isTunnelled?: true;
  /**
   * Words of the board's first line, within 5 s of the first job that the fault holds back. The fault
   * lasts until then. Absent: it holds back no job that is known, several do at once, or chance
   * decides whether one is held back.
   */
  readonly board?: RegExp;
  readonly begin?: Beginning;
}
