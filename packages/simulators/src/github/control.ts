import {
  addAccount,
  addInstallation,
  addRepository,
  findAccount,
  findInstallation,
  findRepository,
  fullName,
  newGroup,
  removeInstallation,
  renameAccount,
  renameRepository,
  repositoriesOf,
} from './accounts.ts';
import type { Remote } from '../remote-control.ts';
import { approveJob, cancelJob, type NewJob, queueJob, rerunJob } from './jobs.ts';
import { emitInstallation, emitInstallationRepositories } from './payloads.ts';
import { bucketOf } from './rate-limits.ts';
import { notFound } from './refusal.ts';
import { jobTruth, reportOf, truthOf } from './truth.ts';
import {
  type Account,
  type DeliveryFaults,
  type GitHubFault,
  type GroupVisibility,
  isoNow,
  nextId,
  type RateResource,
  type Repository,
  type RunnerFaults,
  type SimulatedApp,
  type World,
} from './world.ts';

/** Absent fields have GitHub's defaults: all repositories that are not public, and any workflow. */
type GroupSetting = {
  readonly org: string;
  readonly name: string;
  readonly visibility?: GroupVisibility;
  readonly allowsPublicRepositories?: boolean;
  readonly repositories?: readonly string[];
  readonly workflows?: readonly string[] | null;
};

type RateSetting = {
  readonly caller: { readonly appId: number } | { readonly installationId: number };
  readonly resource: RateResource;
  readonly remaining: number;
  readonly limit?: number;
  readonly resetInMs?: number;
};

/** Controls and reads the simulated world, in the same way in this process and in another one. */
export type GitHubControl = Remote<ReturnType<typeof directControl>>;

export function createControl(world: World): GitHubControl {
  const methods = Object.entries<(...args: never[]) => unknown>(directControl(world)).map(
    ([name, method]) => [name, async (...args: never[]) => await method(...args)],
  );
  return Object.fromEntries(methods) as GitHubControl;
}

/**
 * Every argument and every answer is plain JSON. Repositories are named `owner/name`. A call about
 * something that does not exist throws.
 */
function directControl(world: World) {
  return {
    /**
     * Makes an organisation with a Default runner group; `runnerGroups: false` for a plan without
     * other groups.
     */
    addOrganization: ({
      runnerGroups: hasRunnerGroups = true,
      ...account
    }: {
      login: string;
      id?: number;
      runnerGroups?: boolean;
    }) => namedAccount(addAccount(world, { ...account, type: 'Organization', hasRunnerGroups })),
    /** Makes an organisation's runner group, or changes the one of that name. */
    setRunnerGroup: (group: GroupSetting) => setRunnerGroup(world, group),
    addUser: (account: { login: string; id?: number }) =>
      namedAccount(addAccount(world, { ...account, type: 'User', hasRunnerGroups: false })),
    addRepository: (repository: {
      owner: string;
      name: string;
      id?: number;
      private?: boolean;
      archived?: boolean;
    }) => namedRepository(addRepository(world, { private: true, archived: false, ...repository })),
    /** The old name keeps answering, with a redirect. */
    renameRepository: (repo: string, newName: string) =>
      namedRepository(renameRepository(world, repo, newName)),
    renameAccount: (login: string, newLogin: string) =>
      namedAccount(renameAccount(world, login, newLogin)),
    /**
     * Installs an App on all repositories, or on the named ones; `announce: false` sends no
     * `installation` delivery.
     */
    install: ({
      announce = true,
      ...wanted
    }: {
      appId: number;
      account: string;
      repositories?: readonly string[];
      id?: number;
      announce?: boolean;
    }) => {
      const installation = addInstallation(world, wanted);
      if (announce) emitInstallation(world, installation, 'created');
      return { id: installation.id, name: installation.account.login };
    },
    /**
     * Gives an installation exactly these repositories, or all of them. GitHub sends no deliveries
     * about repositories that it may not see.
     */
    selectRepositories: (installationId: number, repositories: readonly string[] | 'all') =>
      selectRepositories(world, installationId, repositories),
    /** Removes the installation and its tokens. */
    uninstall: (installationId: number) =>
      emitInstallation(world, removeInstallation(world, installationId), 'deleted'),
    suspend: (installationId: number) => suspend(world, installationId, isoNow(world)),
    unsuspend: (installationId: number) => suspend(world, installationId, null),
    /** Changes an App's key, webhook, permissions or events. Tokens that were issued before go on. */
    setApp: (appId: number, changes: Partial<SimulatedApp>) => {
      const app = world.apps.get(appId);
      if (app === undefined) throw notFound();
      Object.assign(app, changes);
    },

    queueJob: (job: NewJob) => jobTruth(queueJob(world, job)),
    /** Releases a job that was queued with `waiting`. */
    approveJob: (jobId: number) => jobTruth(approveJob(world, jobId)),
    /** Runs a job again: a new job id in the run's next attempt. */
    rerunJob: (jobId: number) => jobTruth(rerunJob(world, jobId)),
    cancelJob: (jobId: number) => jobTruth(cancelJob(world, jobId)),

    setDeliveryFaults: (faults: DeliveryFaults) => void (world.deliveryFaults = faults),
    setRunnerFaults: (faults: RunnerFaults) => void (world.runnerFaults = faults),
    /** Sets when a version of the runner ends; null: no end is set yet. */
    setRunnerVersion: (version: string, endsAt: string | null) =>
      void world.runnerVersions.set(version, endsAt),
    /** Sets a caller's budget for the running hour; it resets `resetInMs` from now. */
    setRateLimit: (budget: RateSetting) => setRateLimit(world, budget),
    failNext: (fault: GitHubFault) => void world.faults.push(fault),
    /** Takes back the faults of calls; those of deliveries and runners stay. */
    clearCallFaults: () => void (world.faults.length = 0),
    /** Takes back every fault of calls, deliveries and runners. */
    clearFaults: () =>
      void Object.assign(world, { faults: [], deliveryFaults: {}, runnerFaults: {} }),

    /** Resolves when no delivery is under way. */
    settled: () => untilSettled(world),
    truth: () => truthOf(world),
    report: () => reportOf(world),
  };
}

type Named = { readonly id: number; readonly name: string };

const namedAccount = ({ id, login }: Account): Named => ({ id, name: login });

const namedRepository = (repository: Repository): Named => ({
  id: repository.id,
  name: fullName(repository),
});

function selectRepositories(
  world: World,
  id: number,
  repositories: readonly string[] | 'all',
): void {
  const installation = findInstallation(world, id);
  const before = repositoriesOf(world, installation);
  installation.selection = repositories === 'all' ? 'all' : 'selected';
  installation.repositoryIds.clear();
  if (repositories !== 'all')
    for (const name of repositories) installation.repositoryIds.add(findRepository(world, name).id);
  const after = repositoriesOf(world, installation);
  emitInstallationRepositories(world, installation, {
    added: after.filter((repository) => !before.includes(repository)),
    removed: before.filter((repository) => !after.includes(repository)),
  });
}

function suspend(world: World, id: number, suspendedAt: string | null): void {
  const installation = findInstallation(world, id);
  Object.assign(installation, { suspendedAt, ...(suspendedAt && { updatedAt: suspendedAt }) });
  emitInstallation(world, installation, suspendedAt === null ? 'unsuspend' : 'suspend');
}

function setRateLimit(
  world: World,
  { caller, resource, remaining, limit, resetInMs }: RateSetting,
): void {
  const name = 'appId' in caller ? `app ${caller.appId}` : `installation ${caller.installationId}`;
  const bucket = bucketOf(world, name, resource);
  bucket.limit = limit ?? bucket.limit;
  bucket.used = bucket.limit - remaining;
  if (resetInMs !== undefined) bucket.resetAt = world.now() + resetInMs;
}

function untilSettled(world: World): Promise<void> {
  if (world.deliveriesInFlight === 0) return Promise.resolve();
  return new Promise((resolve) => world.settledWaiters.add(resolve));
}

function setRunnerGroup(
  world: World,
  { org, name, repositories = [], ...settings }: GroupSetting,
): void {
  const { runnerGroups } = findAccount(world, org);
  const known = runnerGroups.find((group) => group.name.toLowerCase() === name.toLowerCase());
  const group = newGroup({
    id: known?.id ?? nextId(world, 'group'),
    name,
    isDefault: known?.isDefault ?? false,
    ...settings,
    repositoryIds: new Set(repositories.map((one) => findRepository(world, one).id)),
  });
  if (known === undefined) runnerGroups.push(group);
  else runnerGroups.splice(runnerGroups.indexOf(known), 1, group);
}
