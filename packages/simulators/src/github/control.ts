import type { GroupVisibility } from './account.ts';
import type { DeliveryFaults } from './delivery-log.ts';
import type { Fault } from './faults.ts';
import type { NewJob } from './jobs.ts';
import type { JobConclusion, JobStatus } from './job.ts';
import type { RateResource } from './rate-limits.ts';
import type { RunnerState } from './runner.ts';
import type { Strike } from './world.ts';

/** What is not said is as GitHub has it: all repositories that are not public, and any workflow. */
export type GroupSetting = {
  readonly org: string;
  readonly name: string;
  readonly visibility?: GroupVisibility;
  readonly allowsPublicRepositories?: boolean;
  readonly repositories?: readonly string[];
  readonly workflows?: readonly string[] | null;
};

/**
 * How the simulated world is steered and asked, in process and over HTTP alike: every argument and
 * every answer is plain JSON. Repositories are named `owner/name`. What does not exist rejects.
 */
export type GitHubControl = {
  /**
   * An organisation with a Default runner group; `runnerGroups: false` for a plan that has no
   * others.
   */
  addOrganization(account: { login: string; id?: number; runnerGroups?: boolean }): Promise<Named>;
  /** Makes an organisation's runner group, or changes the one of that name. */
  setRunnerGroup(group: GroupSetting): Promise<void>;
  addUser(account: { login: string; id?: number }): Promise<Named>;
  addRepository(repository: {
    owner: string;
    name: string;
    id?: number;
    private?: boolean;
    archived?: boolean;
  }): Promise<Named>;
  /** The old name goes on answering with a redirect. */
  renameRepository(repo: string, newName: string): Promise<Named>;
  renameAccount(login: string, newLogin: string): Promise<Named>;
  /**
   * Installs an App on all repositories, or on those named; `announce: false` sends no
   * `installation` delivery.
   */
  install(installation: {
    appId: number;
    account: string;
    repositories?: readonly string[];
    id?: number;
    announce?: boolean;
  }): Promise<Named>;
  /**
   * Gives an installation these repositories and no others, or all there are; what it may not see,
   * it hears nothing of.
   */
  selectRepositories(
    installationId: number,
    repositories: readonly string[] | 'all',
  ): Promise<void>;
  /** The installation and its tokens go. */
  uninstall(installationId: number): Promise<void>;
  suspend(installationId: number): Promise<void>;
  unsuspend(installationId: number): Promise<void>;
  /** Changes an App's webhook, permissions or subscribed events. */
  setApp(appId: number, changes: AppChanges): Promise<void>;

  queueJob(job: NewJob): Promise<JobTruth>;
  /** Lets a job go that was queued with `waiting`. */
  approveJob(jobId: number): Promise<JobTruth>;
  /** A new job id in the run's next attempt. */
  rerunJob(jobId: number): Promise<JobTruth>;
  cancelJob(jobId: number): Promise<JobTruth>;
  /** Sends one of GitHub's published example payloads as it is. */
  sendExample(appId: number, event: string, index: number): Promise<void>;

  setDeliveryFaults(faults: DeliveryFaults): Promise<void>;
  /**
   * `busyLies`: busy runners look idle, and deleting one succeeds (its job dies).
   * `refusesVersions`: every runner that connects hears that its version has ended, as on
   * 2026-08-06, whatever the API says. Absent: no.
   */
  setRunnerFaults(faults: { busyLies?: boolean; refusesVersions?: boolean }): Promise<void>;
  /** When a version of the runner ends; null: no end is set. */
  setRunnerVersion(version: string, endsAt: string | null): Promise<void>;
  /** Sets a caller's budget for the running hour; `resetInMs` from now. */
  setRateLimit(budget: RateSetting): Promise<void>;
  failNext(fault: Fault): Promise<void>;
  /** Takes back the faults of calls; those of deliveries and runners stay. */
  clearCallFaults(): Promise<void>;
  /** Takes back every fault of calls, deliveries and runners. */
  clearFaults(): Promise<void>;

  /** Resolves when no delivery is on its way. */
  settled(): Promise<void>;
  truth(): Promise<Truth>;
  report(): Promise<Report>;
};

export type Named = { readonly id: number; readonly name: string };

export type AppChanges = {
  readonly webhookUrl?: string | null;
  readonly webhookSecret?: string;
  readonly permissions?: Record<string, string>;
  readonly events?: string[];
};

export type RateSetting = {
  readonly caller: { readonly appId: number } | { readonly installationId: number };
  readonly resource: RateResource;
  readonly remaining: number;
  readonly limit?: number;
  readonly resetInMs?: number;
};

export type JobTruth = {
  readonly id: number;
  readonly runId: number;
  readonly attempt: number;
  readonly repo: string;
  readonly repositoryId: number;
  readonly name: string;
  readonly labels: readonly string[];
  readonly hosted: boolean;
  readonly status: JobStatus;
  readonly conclusion: JobConclusion | null;
  readonly runnerName: string | null;
  /** When it began, or ended without having begun, to the millisecond; null while it waits. */
  readonly leftQueueAt: string | null;
  readonly killed: boolean;
};

export type RunnerTruth = {
  readonly id: number;
  readonly name: string;
  readonly scope: string;
  readonly state: RunnerState;
  readonly jobId: number | null;
};

export type RegistrationTruth = {
  readonly id: number;
  readonly name: string;
  readonly scope: string;
  readonly registeredAt: string;
  readonly goneAt: string | null;
  readonly jobIds: readonly number[];
  /**
   * The runners that were idle when it was made, or on their way and came, sufficed for the queued
   * jobs; and it has run none.
   */
  readonly inExcess: boolean;
};

export type DeliveryTruth = {
  readonly id: string;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly redelivery: boolean;
  readonly statusCode: number;
};

export type Truth = {
  readonly jobs: readonly JobTruth[];
  /** Registrations that exist now. */
  readonly runners: readonly RunnerTruth[];
  /** All registrations ever made. */
  readonly registrations: readonly RegistrationTruth[];
  readonly deliveries: readonly DeliveryTruth[];
  readonly calls: Readonly<Record<string, number>>;
};

export type Report = {
  readonly jobs: number;
  readonly completed: number;
  /** Not completed at the time of asking; after a quiet while they are lost. */
  readonly lost: number;
  /** Jobs whose runner was removed or vanished while they ran. */
  readonly killed: number;
  readonly registrations: number;
  readonly excessWorkers: number;
  /** Calls per operation id of GitHub's description. */
  readonly calls: Readonly<Record<string, number>>;
  /**
   * Calls among them whose answer was that nothing has changed (304): they cost nothing of any
   * budget.
   */
  readonly unchangedAnswers: number;
  /**
   * Calls that were made although an answer had told their caller to wait (`Retry-After`, or an
   * hourly budget that is used up).
   */
  readonly callsAgainstWait: number;
  /** The first of them, by operation and caller. */
  readonly firstAgainstWait: readonly string[];
  /** How often which fault has struck. */
  readonly struck: Readonly<Partial<Record<Strike, number>>>;
  /** Attempts in the log, and how many of them failed or were redeliveries. */
  readonly deliveries: number;
  readonly failedDeliveries: number;
  readonly redelivered: number;
};
