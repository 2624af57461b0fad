import type { DeliveryFaults } from '@paddock/simulators/github/delivery-log';
import type { RunnerFaults } from '@paddock/simulators/kube/runner-faults';
import type { Signs } from './signs.ts';
import type { Stage } from './stage.ts';

/** How far the queueing of a run's jobs has come. */
export interface Progress {
  /** Share (0–1) of the jobs that are queued. */
  share(): number;
  /** Resolves when this share (0–1) of the jobs is queued. */
  reached(share: number): Promise<void>;
  /** How long the queueing of all jobs takes, in milliseconds. */
  readonly lastsMs: number;
  /** Queues no further job until this has resolved. */
  holdUp(until: Promise<unknown>): void;
  /** What is away is back from now on; of several times the last counts. */
  over(): void;
}

/**
 * What is done before the first job is queued; what it resolves with is done meanwhile, and puts
 * things right at its end.
 */
export type Beginning = (stage: Stage, progress: Progress) => Promise<() => Promise<void>>;

/**
 * Something that goes wrong in a run, by what is told to the simulators and what is done to the
 * processes.
 */
export interface Fault {
  readonly name: string;
  /** What must be seen of it, at least, or it has not struck. */
  readonly signs: Partial<Signs>;
  /** In force from the first job to the end. */
  readonly deliveries?: DeliveryFaults;
  readonly runners?: RunnerFaults;
  readonly busyLies?: boolean;
  /**
   * GitHub never tells that some jobs are queued: some that join a run which is known, and others.
   */
  readonly untold?: boolean;
  /**
   * After this share (0–1) of the jobs one is queued that no other job leads to: it is the only one
   * of its repository.
   */
  readonly lone?: number;
  /** Share (0–1) of the jobs that are cancelled soon after they are queued. */
  readonly cancelShare?: number;
  /** How long a job works, in milliseconds. */
  readonly jobMs?: readonly [least: number, most: number];
  /**
   * So many times as long as usual it takes until all jobs are queued: where much goes wrong at
   * once, each fault needs time to strike.
   */
  readonly stretch?: number;
  /**
   * Caps that a few jobs reach. They keep down what is made in excess, so most faults go without.
   */
  readonly tightCaps?: boolean;
  /** How many environments work beside each other; one unless told. */
  readonly environments?: number;
  /**
   * Share (0–1) of the jobs for which workers may be made in excess, because we hear late what
   * became of them; 0.05 unless told.
   */
  readonly excess?: number;
  /**
   * How many calls may be made against a wait that GitHub has named: a process that is killed, or
   * cut off from PostgreSQL, before it has stored the wait cannot tell the others; none unless
   * told.
   */
  readonly lostWaits?: number;
  /** Sweeps that would hide what the fault is to show: they are paused. */
  readonly pausedSweeps?: readonly string[];
  /** Settings of the services that the fault needs to strike. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * People wait for its end: the times that decide for how long are the usual ones, and jobs come
   * at an everyday pace.
   */
  readonly atUsualTimes?: boolean;
  /** Its services reach PostgreSQL through a tunnel, which the stage then has. */
  readonly isTunnelled?: true;
  readonly begin?: Beginning;
}

/** All of them in one run. What two of them say of the same is said by the later one. */
export function together(name: string, faults: readonly Fault[]): Fault {
  const begins = faults.flatMap(({ begin }) => begin ?? []);
  return {
    ...Object.assign({}, ...faults),
    name,
    signs: Object.assign({}, ...faults.map(({ signs }) => signs)),
    deliveries: Object.assign({}, ...faults.map(({ deliveries }) => deliveries)),
    runners: Object.assign({}, ...faults.map(({ runners }) => runners)),
    begin: async (stage, progress) => {
      const meanwhile: (() => Promise<void>)[] = [];
      for (const begin of begins) meanwhile.push(await begin(stage, progress));
      return async () => void (await Promise.all(meanwhile.map((act) => act())));
    },
  };
}
