import type { Fault } from '../faults.ts';
import { evenShare, seededRandom } from '../random.ts';
import { type JobResult, NEWEST_VERSION, type RunnerMessage } from './play-runner.ts';

/** The types of what GitHub knows, and the state that holds them. */

/** JSON of GitHub's. */
export type Payload = { readonly [field: string]: unknown };

export type AccountType = 'Organization' | 'User';

export type Account = {
  readonly id: number;
  login: string;
  readonly type: AccountType;
  /** False for plans without runner groups: making one is refused. */
  readonly hasRunnerGroups: boolean;
  readonly runnerGroups: RunnerGroup[];
};

export type GroupVisibility = 'all' | 'private' | 'selected';

export type RunnerGroup = {
  readonly id: number;
  name: string;
  visibility: GroupVisibility;
  allowsPublicRepositories: boolean;
  readonly isDefault: boolean;
  /** The repositories of a group of selected ones, by id. */
  readonly repositoryIds: Set<number>;
  /** Null: any workflow may run on its runners. */
  workflows: readonly string[] | null;
};

export type Repository = {
  readonly id: number;
  name: string;
  readonly owner: Account;
  readonly private: boolean;
  readonly archived: boolean;
};

export type Installation = {
  readonly id: number;
  readonly appId: number;
  readonly account: Account;
  selection: 'all' | 'selected';
  readonly repositoryIds: Set<number>;
  suspendedAt: string | null;
  /** The end of a suspension leaves that of its beginning, as at GitHub. */
  updatedAt: string;
  readonly createdAt: string;
};

export type JobStatus = 'waiting' | 'queued' | 'in_progress' | 'completed';
export type JobConclusion = 'success' | 'failure' | 'cancelled' | 'skipped';

/** A workflow run. Its status follows from its jobs; re-running a job raises its attempt. */
export type Run = {
  readonly id: number;
  readonly repository: Repository;
  readonly actor: Account;
  readonly number: number;
  readonly workflowName: string;
  readonly headSha: string;
  /** The event that began it: a push, or a schedule's time. */
  readonly event: 'push' | 'schedule';
  readonly createdAt: string;
  attempt: number;
  readonly jobs: Job[];
};

export type Job = {
  readonly id: number;
  readonly run: Run;
  readonly attempt: number;
  readonly name: string;
  readonly labels: readonly string[];
  readonly group: string | undefined;
  readonly durationMs: number;
  readonly result: JobResult;
  /** One of GitHub's own machines runs it at once, and none of our runners gets it. */
  readonly hosted: boolean;
  readonly createdAt: string;
  status: JobStatus;
  conclusion: JobConclusion | null;
  startedAt: string;
  completedAt: string | null;
  /**
   * When it began, or ended without having begun, in milliseconds since the epoch; null while it
   * waits.
   */
  leftQueueAtMs: number | null;
  /** The runner that runs it or ran it. */
  runner: JobRunner | null;
  /** Its runner was lost or removed during the job. */
  killed: boolean;
};

export type JobRunner = {
  readonly id: number;
  readonly name: string;
  readonly groupId: number;
  readonly groupName: string;
};

export type RunnerScope = { readonly owner: Account; readonly repository?: Repository };

/**
 * registered (no session yet) → idle → busy; offline when the session broke. No map holds a runner
 * that is done.
 */
export type RunnerState = 'registered' | 'idle' | 'busy' | 'offline';

export type Runner = {
  readonly id: number;
  readonly name: string;
  readonly scope: RunnerScope;
  readonly labels: readonly string[];
  readonly lowerLabels: ReadonlySet<string>;
  readonly group: RunnerGroup;
  readonly secret: string;
  readonly registeredAt: number;
  state: RunnerState;
  /** The JIT config allows only one session. */
  configUsed: boolean;
  /** As the runner reported it when it connected. */
  version: string | null;
  jobId: number | null;
  send: ((message: RunnerMessage) => void) | null;
};

/** The record of a registration, which stays after the registration is gone. */
export type RunnerRecord = {
  readonly id: number;
  readonly name: string;
  readonly scope: string;
  readonly registeredAt: string;
  /**
   * Set if the runners that were idle or coming when it was made sufficed for the queued jobs that
   * it could serve. The function says whether that still holds when only some of those coming count
   * (`comes`).
   */
  readonly isCovered: ((comes: (runner: Runner) => boolean) => boolean) | null;
  readonly jobIds: number[];
  goneAt: string | null;
};

/** One attempt to deliver one event to one App. Attempts of the same event share the GUID. */
export type Delivery = {
  /**
   * A whole number as text: since 2026 GitHub's have 19 digits, too many for a JavaScript number.
   */
  readonly id: string;
  readonly guid: string;
  readonly appId: number;
  readonly event: string;
  readonly action: string;
  readonly installationId: number;
  readonly repositoryId: number | null;
  readonly payload: Payload;
  readonly deliveredAt: string;
  readonly redelivery: boolean;
  readonly durationSeconds: number;
  readonly status: string;
  readonly statusCode: number;
};

/** Faults between GitHub and the receiver. All absent: none. */
export type DeliveryFaults = {
  /** Share (0–1) of first attempts that fail without being sent. */
  lossRate?: number | undefined;
  /** First attempts of these actions fail without being sent. */
  dropActions?: readonly string[] | undefined;
  /**
   * GitHub makes no events of these actions, as if it had forgotten them. The log lacks them too.
   */
  omitActions?: readonly string[] | undefined;
  /** Share (0–1) of deliveries that arrive twice, under one GUID. */
  duplicateRate?: number | undefined;
  /**
   * Each delivery starts a random time later, up to this many milliseconds, so that they overtake
   * each other.
   */
  delayMs?: readonly [min: number, max: number] | undefined;
  /**
   * The status code of lost deliveries in the log, by default 502. 0 is a connection that never
   * gave a code.
   */
  lossStatusCode?: number | undefined;
};

/** A fault of the API's answers. */
export interface GitHubFault extends Fault {
  /** Only the calls of this caller, such as `installation 7`. */
  readonly caller?: string | undefined;
  /** Only the calls for this page of a list. */
  readonly page?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** The list is empty, and says no less than usual how many items it has. */
  readonly emptied?: boolean | undefined;
}

/** Absent: no. */
export type RunnerFaults = {
  /** Busy runners look idle, and deleting one succeeds (its job dies). */
  readonly busyLies?: boolean;
  /** Each runner that connects hears that its version has ended, even if the API names no end. */
  readonly refusesVersions?: boolean;
};

export type RateResource = 'core' | 'actions_runner_registration';

/** GitHub's record of an App: its public keys only, one behind the other, like the real one. */
export type SimulatedApp = {
  readonly appId: number;
  readonly slug: string;
  publicKeyPem: string;
  webhookSecret: string;
  /** The address of deliveries; null records each of them as failed. */
  webhookUrl: string | null;
  permissions: Record<string, string>;
  /** What the owners of its installations have accepted of them; null: all. */
  accepted: Record<string, string> | null;
  events: string[];
  readonly createdAt: string;
};

export type RateBucket = { limit: number; used: number; resetAt: number };

/**
 * One strike of a fault. `busy_hidden`: GitHub called a busy runner idle, or allowed its deletion.
 * A failed call counts twice: as a failed call, and by its status.
 */
export type Strike =
  | 'event_never_sent'
  | 'delivery_lost'
  | 'delivery_doubled'
  | 'delivery_delayed'
  | 'call_failed'
  | `call_failed_${number}`
  | 'busy_hidden'
  | 'job_taken'
  | 'version_refused';

/** The state of the simulated GitHub. One plain object; the functions beside it change it. */
export type World = {
  /** Base address of the simulator, set once it listens. */
  url: string;
  readonly now: () => number;
  /** Uniform in [0, 1); seeded, so that GitHub's choices can be repeated. */
  readonly random: () => number;
  readonly apps: Map<number, SimulatedApp>;
  /** By lower-case login. */
  readonly accounts: Map<string, Account>;
  readonly repositories: Map<number, Repository>;
  /** Former lower-case full names of renamed repositories. */
  readonly formerNames: Map<string, Repository>;
  readonly installations: Map<number, Installation>;
  readonly tokens: Map<string, { readonly installationId: number; readonly expiresAt: number }>;
  readonly rateBuckets: Map<string, RateBucket>;
  readonly runs: Map<number, Run>;
  readonly jobs: Map<number, Job>;
  /** The jobs that wait for a runner, oldest first. */
  readonly queuedJobs: Map<number, Job>;
  readonly runners: Map<number, Runner>;
  readonly runnerRecords: Map<number, RunnerRecord>;
  runnerFaults: RunnerFaults;
  /** When each known version of the runner ends; null: no end is set yet. */
  readonly runnerVersions: Map<string, string | null>;
  readonly onItsWayMs: number;
  readonly deliveries: Delivery[];
  deliveriesInFlight: number;
  deliveryFaults: DeliveryFaults;
  /** Decides whether the next delivery is lost or doubled, if a share of them is. */
  readonly isLost: (share: number) => boolean;
  readonly isDoubled: (share: number) => boolean;
  readonly deliveryTimeoutMs: number;
  readonly settledWaiters: Set<() => void>;
  faults: GitHubFault[];
  readonly calls: Map<string, number>;
  /**
   * The waits that answers have asked callers for, by the caller's name. The wait for one hourly
   * budget has the budget's name after the caller's.
   */
  readonly requestedWaits: Map<string, { readonly requestedAt: number; readonly until: number }>;
  /** Calls that callers made during a wait, in order. */
  readonly callsAgainstWait: string[];
  readonly struck: Map<Strike, number>;
  readonly timers: Set<NodeJS.Timeout>;
  readonly ids: Record<
    | 'app'
    | 'account'
    | 'repository'
    | 'installation'
    | 'run'
    | 'job'
    | 'runner'
    | 'group'
    | 'delivery',
    number
  >;
};

export function createWorld({
  seed,
  now,
  onItsWayMs,
  deliveryTimeoutMs,
}: Pick<World, 'now' | 'onItsWayMs' | 'deliveryTimeoutMs'> & { readonly seed: number }): World {
  const random = seededRandom(seed);
  return {
    url: '',
    now,
    random,
    apps: new Map(),
    accounts: new Map(),
    repositories: new Map(),
    formerNames: new Map(),
    installations: new Map(),
    tokens: new Map(),
    rateBuckets: new Map(),
    runs: new Map(),
    jobs: new Map(),
    queuedJobs: new Map(),
    runners: new Map(),
    runnerRecords: new Map(),
    runnerFaults: {},
    // As GitHub answered on 2026-09-29.
    runnerVersions: new Map([
      ['2.329.0', '2026-01-23T17:10:35Z'],
      ['2.333.1', '2026-06-30T15:52:45Z'],
      ['2.335.1', '2026-09-24T15:30:55Z'],
      [NEWEST_VERSION, null],
    ]),
    onItsWayMs,
    deliveries: [],
    deliveriesInFlight: 0,
    deliveryFaults: {},
    isLost: evenShare(random),
    isDoubled: evenShare(random),
    deliveryTimeoutMs,
    settledWaiters: new Set(),
    faults: [],
    calls: new Map(),
    requestedWaits: new Map(),
    callsAgainstWait: [],
    struck: new Map(),
    timers: new Set(),
    ids: {
      app: 1_900_001,
      account: 90_000_001,
      repository: 780_000_001,
      installation: 51_000_001,
      run: 9_200_000_001,
      // As long as GitHub's own, which have far more than 32 bits.
      job: 34_500_000_001,
      runner: 21,
      group: 2,
      delivery: 138_000_000_001,
    },
  };
}

export function strike({ struck }: World, what: Strike): void {
  struck.set(what, (struck.get(what) ?? 0) + 1);
}

/** The next id of a kind. GitHub's grow, with gaps. */
export function nextId(world: World, kind: keyof World['ids']): number {
  const id = world.ids[kind];
  world.ids[kind] = id + 1 + Math.floor(world.random() * 3);
  return id;
}

export function isoNow(world: World): string {
  return isoTime(world.now());
}

/** GitHub's instants have whole seconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Runs `act` after a while unless the simulator stops before. */
export function later(world: World, ms: number, act: () => void): void {
  const timer = setTimeout(() => {
    world.timers.delete(timer);
    act();
  }, ms);
  world.timers.add(timer);
}

/** Ends a registration; its record remains. */
export function forgetRunner(world: World, runner: Runner): void {
  world.runners.delete(runner.id);
  const record = world.runnerRecords.get(runner.id);
  if (record !== undefined) record.goneAt = isoNow(world);
}
