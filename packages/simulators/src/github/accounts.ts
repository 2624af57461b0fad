import { Refusal, notFound } from './refusal.ts';
import {
  type Account,
  type Installation,
  type Repository,
  type RunnerGroup,
  type World,
  isoNow,
  nextId,
} from './world.ts';

export function addAccount(
  world: World,
  {
    login,
    id = nextId(world, 'account'),
    type,
    hasRunnerGroups,
  }: Pick<Account, 'login' | 'type' | 'hasRunnerGroups'> & { readonly id?: number },
): Account {
  if (world.accounts.has(login.toLowerCase()))
    throw new Refusal(422, `There is already an account named ${login}.`);
  const group = newGroup({ id: 1, name: 'Default', isDefault: true });
  const account = { id, login, type, hasRunnerGroups, runnerGroups: [group] };
  world.accounts.set(login.toLowerCase(), account);
  return account;
}

/** It keeps public repositories out until its owner lets them in, as GitHub's own does. */
export const newGroup = (
  given: Pick<RunnerGroup, 'id' | 'name'> & Partial<RunnerGroup>,
): RunnerGroup => ({
  visibility: 'all',
  allowsPublicRepositories: false,
  isDefault: false,
  repositoryIds: new Set(),
  workflows: null,
  ...given,
});

export function findAccount(world: World, login: string): Account {
  const account = world.accounts.get(login.toLowerCase());
  if (account === undefined) throw notFound();
  return account;
}

export function addRepository(
  world: World,
  {
    owner,
    id = nextId(world, 'repository'),
    ...given
  }: Omit<Repository, 'id' | 'owner'> & { readonly owner: string; readonly id?: number },
): Repository {
  const repository = { id, owner: findAccount(world, owner), ...given };
  world.repositories.set(id, repository);
  return repository;
}

export function fullName(repository: Repository): string {
  return `${repository.owner.login}/${repository.name}`;
}

export function findRepository(world: World, name: string): Repository {
  const wanted = name.toLowerCase();
  for (const repository of world.repositories.values()) {
    if (fullName(repository).toLowerCase() === wanted) return repository;
  }
  throw notFound();
}

export function renameRepository(world: World, name: string, newName: string): Repository {
  const repository = findRepository(world, name);
  world.formerNames.set(name.toLowerCase(), repository);
  repository.name = newName;
  return repository;
}

/**
 * Renames an account. Its old login is free at once, and unlike a repository's old name it does not
 * redirect in the API.
 */
export function renameAccount(world: World, login: string, newLogin: string): Account {
  const account = findAccount(world, login);
  world.accounts.delete(login.toLowerCase());
  account.login = newLogin;
  world.accounts.set(newLogin.toLowerCase(), account);
  return account;
}

type NewInstallation = {
  readonly appId: number;
  readonly account: string;
  readonly repositories?: readonly string[];
  readonly id?: number;
};

/** Installs an App: on all repositories, or on those named (`owner/name`). */
export function addInstallation(
  world: World,
  { appId, account, repositories, id = nextId(world, 'installation') }: NewInstallation,
): Installation {
  if (!world.apps.has(appId)) throw new Refusal(422, `There is no App ${appId}.`);
  const owner = findAccount(world, account);
  if (world.installations.values().some((one) => one.appId === appId && one.account === owner))
    throw new Refusal(422, `App ${appId} is already installed on ${account}.`);
  const installation: Installation = {
    id,
    appId,
    account: owner,
    selection: repositories === undefined ? 'all' : 'selected',
    repositoryIds: new Set(repositories?.map((name) => findRepository(world, name).id)),
    suspendedAt: null,
    updatedAt: isoNow(world),
    createdAt: isoNow(world),
  };
  world.installations.set(id, installation);
  return installation;
}

/** Removes the installation and its tokens. */
export function removeInstallation(world: World, id: number): Installation {
  const installation = findInstallation(world, id);
  world.installations.delete(id);
  for (const [token, { installationId }] of world.tokens)
    if (installationId === id) world.tokens.delete(token);
  return installation;
}

export function findInstallation(world: World, id: number): Installation {
  const installation = world.installations.get(id);
  if (installation === undefined) throw notFound();
  return installation;
}

export function covers(installation: Installation, repository: Repository): boolean {
  return (
    installation.account === repository.owner &&
    (installation.selection === 'all' || installation.repositoryIds.has(repository.id))
  );
}

export function repositoriesOf(world: World, installation: Installation): Repository[] {
  return [...world.repositories.values()].filter((repository) => covers(installation, repository));
}
