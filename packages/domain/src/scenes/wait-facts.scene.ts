import type { JobFacts, KeyFacts, WaitFacts, WorkerFacts } from '../why/wait-facts.ts';

export const NOW = new Date('2026-01-31T10:00:00.400Z');

export const secondsAgo = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000);

/** A reservation, ten seconds old. */
export const workerWith = (given: Partial<WorkerFacts> = {}): WorkerFacts => ({
  name: 'pd-linux-1',
  createdAt: secondsAgo(10),
  hasBegunRegistration: false,
  isRegistered: false,
  hasPod: false,
  isRunning: false,
  isOffline: false,
  isStopping: false,
  isUnschedulable: false,
  stuckReason: null,
  diagnosis: null,
  ...given,
});

const JOB: JobFacts = {
  jobId: 34_500_000_001,
  demandKey: 5,
  name: 'build',
  url: null,
  status: 'pending',
  wantsWorker: true,
  hiddenSince: null,
  login: 'acme',
  entityId: 90_000_001,
  repoFullName: 'acme/api',
  scopeRepoId: 0,
  pool: 'linux',
  queuedAt: secondsAgo(300),
  knownSince: secondsAgo(299),
  changedAt: secondsAgo(299),
  startedAt: null,
  completedAt: null,
  conclusion: null,
  runnerName: null,
  podName: null,
  failure: null,
  workerFailure: null,
};

const KEY: KeyFacts = {
  waitReason: null,
  waitSince: secondsAgo(120),
  waiting: 3,
  unassigned: 0,
  updatedAt: secondsAgo(1),
};

/** A job of acme that waits in the pool `linux`, the second of three; `given` has the differences. */
export function factsWith({
  job,
  key,
  reason,
  ...given
}: Partial<Omit<WaitFacts, 'job' | 'key'>> & {
  job?: Partial<JobFacts>;
  key?: null;
  reason?: string | undefined;
} = {}): WaitFacts {
  return {
    now: NOW,
    job: { ...JOB, ...job },
    key: key === null ? null : { ...KEY, waitReason: reason ?? null },
    place: { position: 2, of: 3, olderOfEntity: 0, olderOfPool: 0 },
    workers: [],
    lastStarts: { jobs: 50, medianMs: 90_000 },
    caps: [],
    switches: [],
    outages: [],
    told: [],
    failing: null,
    budget: null,
    group: null,
    lostApp: null,
    unexplained: 0,
    withoutNode: 0,
    earlier: [],
    nearest: null,
    ...given,
  };
}
