import {
  type Account,
  type Repository,
  type RunnerGroup,
  addAccount,
  addInstallation,
  addRepository,
  findInstallation,
  findRepository,
  fullName,
  removeInstallation,
  renameAccount,
  renameRepository,
  repositoriesOf,
  findAccount,
} from './accounts.ts';
import type { AppChanges, GitHubControl, Named, RateSetting, GroupSetting } from './control.ts';
import type { DeliveryFaults } from './delivery-log.ts';
import { approveJob, cancelJob, queueJob, rerunJob } from './jobs.ts';
import { emitExample, emitInstallation, emitInstallationRepositories } from './payloads.ts';
import { bucketOf } from './rate-limits.ts';
import { notFound } from './route.ts';
import { jobTruth, reportOf, truthOf } from './truth.ts';
import { isoNow, type World, nextId } from './world.ts';

/** The same methods with immediate answers. */
type DirectControl = {
  readonly [Name in keyof GitHubControl]: (
    ...args: Parameters<GitHubControl[Name]>
  ) => Awaited<ReturnType<GitHubControl[Name]>> | ReturnType<GitHubControl[Name]>;
};

/**
 * Returns promises throughout, so that a test can use this and a client in another process in the
 * same way.
 */
export function createControl(world: World): GitHubControl {
  const methods = Object.entries<(...args: never[]) => unknown>(directControl(world)).map(
    ([name, method]) => [name, async (...args: never[]) => await method(...args)],
  );
  return Object.fromEntries(methods) as GitHubControl;
}

function directControl(world: World): DirectControl {
  return {
    addOrganization: ({ login, id, runnerGroups = true }) =>
      namedAccount(
        addAccount(world, { login, id, type: 'Organization', hasRunnerGroups: runnerGroups }),
      ),
    setRunnerGroup: (group) => setRunnerGroup(world, group),
    addUser: ({ login, id }) =>
      namedAccount(addAccount(world, { login, id, type: 'User', hasRunnerGroups: false })),
    addRepository: ({ owner, name, id, private: isPrivate = true, archived = false }) =>
      namedRepository(addRepository(world, { owner, name, id, private: isPrivate, archived })),
    renameRepository: (repo, newName) => namedRepository(renameRepository(world, repo, newName)),
    renameAccount: (login, newLogin) => namedAccount(renameAccount(world, login, newLogin)),
    install: ({ announce = true, ...wanted }) => {
      const installation = addInstallation(world, wanted);
      if (announce) emitInstallation(world, installation, 'created');
      return { id: installation.id, name: installation.account.login };
    },
    selectRepositories: (id, repositories) => selectRepositories(world, id, repositories),
    uninstall: (id) => emitInstallation(world, removeInstallation(world, id), 'deleted'),
    suspend: (id) => suspend(world, id, isoNow(world)),
    unsuspend: (id) => suspend(world, id, null),
    setApp: (appId, changes) => changeApp(world, appId, changes),

    queueJob: (job) => jobTruth(queueJob(world, job)),
    approveJob: (jobId) => jobTruth(approveJob(world, jobId)),
    rerunJob: (jobId) => jobTruth(rerunJob(world, jobId)),
    cancelJob: (jobId) => jobTruth(cancelJob(world, jobId)),
    sendExample: (appId, event, index) => emitExample(world, appId, event, index),

    setDeliveryFaults: (faults) => replaceFaults(world, faults),
    setRunnerFaults: ({ busyLies = false, refusesVersions = false }) =>
      void Object.assign(world.runnerFaults, { busyLies, refusesVersions }),
    setRunnerVersion: (version, endsAt) => void world.runnerVersions.set(version, endsAt),
    setRateLimit: (budget) => setRateLimit(world, budget),
    failNext: (fault) => void world.faults.push(fault),
    clearCallFaults: () => clearCallFaults(world),
    clearFaults: () => {
      clearCallFaults(world);
      Object.assign(world.runnerFaults, { busyLies: false, refusesVersions: false });
      replaceFaults(world, {});
    },

    settled: () => untilSettled(world),
    truth: () => truthOf(world),
    report: () => reportOf(world),
  };
}

function namedAccount({ id, login }: Account): Named {
  return { id, name: login };
}

function namedRepository(repository: Repository): Named {
  return { id: repository.id, name: fullName(repository) };
}

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
  installation.suspendedAt = suspendedAt;
  emitInstallation(world, installation, suspendedAt === null ? 'unsuspend' : 'suspend');
}

function changeApp(world: World, appId: number, changes: AppChanges): void {
  const app = world.apps.get(appId);
  if (app === undefined) throw notFound();
  Object.assign(app, changes);
}

function replaceFaults(world: World, faults: DeliveryFaults): void {
  for (const name of Object.keys(world.deliveryFaults))
    Reflect.deleteProperty(world.deliveryFaults, name);
  Object.assign(world.deliveryFaults, faults);
}

function clearCallFaults({ faults }: World): void {
  faults.length = 0;
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

/**
 * Makes an organisation's group, or changes the one of that name, as its owner does on GitHub's
 * pages.
 */
function setRunnerGroup(
  world: World,
  { org, name, repositories = [], ...settings }: GroupSetting,
): void {
  const { runnerGroups } = findAccount(world, org);
  const known = runnerGroups.find((group) => group.name.toLowerCase() === name.toLowerCase());
  const repositoryIds = new Set(repositories.map((one) => findRepository(world, one).id));
  const usual = { visibility: 'all', allowsPublicRepositories: false, workflows: null } as const;
  const group: RunnerGroup = {
    id: nextId(world, 'group'),
    name,
    isDefault: false,
    ...usual,
    ...settings,
    repositoryIds,
  };
  if (known === undefined) runnerGroups.push(group);
  else
    runnerGroups.splice(runnerGroups.indexOf(known), 1, {
      ...group,
      id: known.id,
      isDefault: known.isDefault,
    });
}
