import type { GroupVisibility } from './accounts.ts';
import type { DeliveryFaults } from './delivery-log.ts';
import type { Fault } from './faults.ts';
import type { NewJob } from './jobs.ts';
import type { JobConclusion, JobStatus } from './job.ts';
import type { RateResource } from './rate-limits.ts';
import type { RunnerState } from './runner.ts';
import type { Strike } from './world.ts';

/** Absent fields have GitHub's defaults: all repositories that are not public, and any workflow. */
export type GroupSetting = {
  readonly org: string;
  readonly name: string;
  readonly visibility?: GroupVisibility;
  readonly allowsPublicRepositories?: boolean;
  readonly repositories?: readonly string[];
  readonly workflows?: readonly string[] | null;
};

/**
 * Controls and reads the simulated world, in process and over HTTP: every argument and every answer
 * is plain JSON. Repositories are named `owner/name`. A call about something that does not exist
 * rejects.
 */
export type GitHubControl = {
  /**
   * Makes an organisation with a Default runner group; `runnerGroups: false` for a plan without
   * other groups.
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
  /** The old name keeps answering, with a redirect. */
  renameRepository(repo: string, newName: string): Promise<Named>;
  renameAccount(login: string, newLogin: string): Promise<Named>;
  /**
   * Installs an App on all repositories, or on the named ones; `announce: false` sends no
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
   * Gives an installation exactly these repositories, or all of them. GitHub sends no deliveries
   * about repositories that it may not see.
   */
  selectRepositories(
    installationId: number,
    repositories: readonly string[] | 'all',
  ): Promise<void>;
  /** Removes the installation and its tokens. */
  uninstall(installationId: number): Promise<void>;
  suspend(installationId: number): Promise<void>;
  unsuspend(installationId: number): Promise<void>;
  /** Changes an App's key, webhook, permissions or subscribed events. */
  setApp(appId: number, changes: AppChanges): Promise<void>;

  queueJob(job: NewJob): Promise<JobTruth>;
  /** Releases a job that was queued with `waiting`. */
  approveJob(jobId: number): Promise<JobTruth>;
  /** Runs a job again: a new job id in the run's next attempt. */
  rerunJob(jobId: number): Promise<JobTruth>;
  cancelJob(jobId: number): Promise<JobTruth>;
  /** Sends one of GitHub's published example payloads, unchanged. */
  sendExample(appId: number, event: string, index: number): Promise<void>;

  setDeliveryFaults(faults: DeliveryFaults): Promise<void>;
  /**
   * `busyLies`: busy runners look idle, and deleting one succeeds (its job dies).
   * `refusesVersions`: every runner that connects gets the answer that its version has ended, as on
   * 2026-08-06, even if the API names no end. Absent: no.
   */
  setRunnerFaults(faults: { busyLies?: boolean; refusesVersions?: boolean }): Promise<void>;
  /** Sets when a version of the runner ends; null: no end is set yet. */
  setRunnerVersion(version: string, endsAt: string | null): Promise<void>;
  /** Sets a caller's budget for the running hour; it resets `resetInMs` from now. */
  setRateLimit(budget: RateSetting): Promise<void>;
  failNext(fault: Fault): Promise<void>;
  /** Takes back the faults of calls; those of deliveries and runners stay. */
  clearCallFaults(): Promise<void>;
  /** Takes back every fault of calls, deliveries and runners. */
  clearFaults(): Promise<void>;

  /** Resolves when no delivery is under way. */
  settled(): Promise<void>;
  truth(): Promise<Truth>;
  report(): Promise<Report>;
};

export type Named = { readonly id: number; readonly name: string };

export type AppChanges = {
  /** Tokens that were issued before go on. */
  readonly publicKeyPem?: string;
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
   * True if the runner was unnecessary: the runners that were idle when it was made, or that came
   * after that, were enough for the queued jobs. And it has run no job.
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
  /** Not completed at the time of the report; after a quiet while they are lost. */
  readonly lost: number;
  /** Jobs whose runner was removed or vanished during the job. */
  readonly killed: number;
  readonly registrations: number;
  readonly excessWorkers: number;
  /** Calls per operation id of GitHub's description. */
  readonly calls: Readonly<Record<string, number>>;
  /**
   * Calls that the caller made although an answer had asked it to wait (`Retry-After`, or a used-up
   * hourly budget).
   */
  readonly callsAgainstWait: number;
  /** The first of these calls, by operation and caller. */
  readonly firstAgainstWait: readonly string[];
  /** How often each fault has struck. */
  readonly struck: Readonly<Partial<Record<Strike, number>>>;
  /** Attempts in the log, and how many of them failed or were redeliveries. */
  readonly deliveries: number;
  readonly failedDeliveries: number;
  readonly redelivered: number;
};

/**
 * Controls a simulated GitHub that runs in another process. Rejects with the simulator's message
 * when it refuses.
 */
export function connectGitHubSimulator(url: string): GitHubControl {
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(`${url}/_sim/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ args }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(
        `The simulated GitHub at ${url} refused ${name} with status ${response.status}: ${text}`,
      );
    return text === '' ? undefined : JSON.parse(text);
  };
  return new Proxy({} as GitHubControl, {
    get: (_none, name) =>
      name === 'then' ? undefined : (...args: unknown[]) => call(String(name), args),
  });
}
