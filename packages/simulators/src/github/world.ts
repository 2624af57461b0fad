import { randomBytes } from 'node:crypto';
import type { Account, Installation, Repository } from './accounts.ts';
import type { DeliveryFaults, Delivery } from './delivery-log.ts';
import type { Fault } from './faults.ts';
import type { Job, Run } from './job.ts';
import { type Runner, type RunnerRecord, KNOWN_VERSIONS } from './runner.ts';
import type { RequestedWaits } from './rate-limits.ts';
import { evenShare, seededRandom } from '../random.ts';

/** GitHub's record of an App: its public key only, like the real one. */
export type SimulatedApp = {
  readonly appId: number;
  readonly slug: string;
  publicKeyPem: string;
  webhookSecret: string;
  /** The address of deliveries; null records each of them as failed. */
  webhookUrl: string | null;
  permissions: Record<string, string>;
  events: string[];
  readonly createdAt: string;
};

type Token = { readonly installationId: number; readonly expiresAt: number };

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
  readonly tokens: Map<string, Token>;
  readonly rateBuckets: Map<string, RateBucket>;
  readonly rateLimits: { core: number; actions_runner_registration: number };
  readonly runs: Map<number, Run>;
  readonly jobs: Map<number, Job>;
  /** The jobs that wait for a runner, oldest first. */
  readonly queuedJobs: Map<number, Job>;
  readonly runners: Map<number, Runner>;
  readonly runnerRecords: Map<number, RunnerRecord>;
  readonly runnerFaults: { busyLies: boolean; refusesVersions: boolean };
  /** When each known version of the runner ends; null: no end is set yet. */
  readonly runnerVersions: Map<string, string | null>;
  readonly onItsWayMs: number;
  readonly deliveries: Delivery[];
  deliveriesInFlight: number;
  readonly deliveryFaults: DeliveryFaults;
  /** Decides whether the next delivery is lost or doubled, if a share of them is. */
  readonly isLost: (share: number) => boolean;
  readonly isDoubled: (share: number) => boolean;
  readonly deliveryTimeoutMs: number;
  readonly settledWaiters: Set<() => void>;
  readonly faults: Fault[];
  readonly calls: Map<string, number>;
  readonly requestedWaits: RequestedWaits;
  /** Calls that callers made during a wait, in order. */
  readonly callsAgainstWait: string[];
  readonly struck: Map<Strike, number>;
  readonly timers: Set<NodeJS.Timeout>;
  readonly ids: Record<
    'account' | 'repository' | 'installation' | 'run' | 'job' | 'runner' | 'group' | 'delivery',
    number
  >;
};

type WorldOptions = {
  readonly seed: number;
  readonly now: () => number;
  readonly onItsWayMs: number;
  readonly deliveryTimeoutMs: number;
};

export function createWorld({ seed, now, onItsWayMs, deliveryTimeoutMs }: WorldOptions): World {
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
    rateLimits: { core: 5000, actions_runner_registration: 10_000 },
    runs: new Map(),
    jobs: new Map(),
    queuedJobs: new Map(),
    runners: new Map(),
    runnerRecords: new Map(),
    runnerFaults: { busyLies: false, refusesVersions: false },
    runnerVersions: new Map(Object.entries(KNOWN_VERSIONS)),
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

/** Unguessable text, for secrets that GitHub never repeats. */
export function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

/** Ends a registration; its record remains. */
export function forgetRunner(world: World, runner: Runner): void {
  world.runners.delete(runner.id);
  const record = world.runnerRecords.get(runner.id);
  if (record !== undefined) record.goneAt = isoNow(world);
}
