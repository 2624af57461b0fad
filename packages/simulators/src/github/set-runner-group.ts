import type { RunnerGroup } from './account.ts';
import { findAccount, findRepository } from './accounts.ts';
import type { GroupSetting } from './control.ts';
import { nextId, type World } from './world.ts';

/**
 * Makes an organisation's group, or changes the one of that name, as its owner does on GitHub's
 * pages.
 */
export function setRunnerGroup(
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
