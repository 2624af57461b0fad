import { newGroup } from './accounts.ts';
import { repositoryFragment } from './fragments.ts';
import { Refusal, notFound } from './refusal.ts';
import {
  type Answer,
  type InstallationCall,
  type Route,
  forInstallation,
  listOf,
  idParam,
  reachableOrganization,
} from './route.ts';
import {
  type Account,
  type GroupVisibility,
  type Payload,
  type RunnerGroup,
  type World,
  nextId,
} from './world.ts';

const PATH = '/orgs/:org/actions/runner-groups';

export const runnerGroupRoutes: readonly Route[] = [
  forInstallation(`get ${PATH}`, 'actions/list-self-hosted-runner-groups-for-org', (call) => {
    const account = reachableOrganization(call);
    const json = (group: RunnerGroup) => groupJson(call.world, account, group);
    return listOf(call, 'runner_groups', account.runnerGroups, json);
  }),
  forInstallation(`post ${PATH}`, 'actions/create-self-hosted-runner-group-for-org', createGroup),
  forInstallation(
    `get ${PATH}/:runner_group_id/repositories`,
    'actions/list-repo-access-to-self-hosted-runner-group-in-org',
    (call) => {
      const { repositoryIds } = namedGroup(call);
      const all = [...call.world.repositories.values()].filter(({ id }) => repositoryIds.has(id));
      return listOf(call, 'repositories', all, repositoryFragment);
    },
  ),
];

function createGroup(call: InstallationCall): Answer {
  const account = reachableOrganization(call);
  if (!account.hasRunnerGroups)
    throw new Refusal(403, 'Runner groups are not available on the plan of this organization.');
  const { name, visibility = 'all', allows_public_repositories: allowsPublic } = call.body;
  if (typeof name !== 'string' || name === '') throw new Refusal(422, 'Name is missing.');
  if (account.runnerGroups.some((group) => group.name.toLowerCase() === name.toLowerCase()))
    throw new Refusal(409, 'A runner group with this name exists.');
  if (!isVisibility(visibility))
    throw new Refusal(422, 'Visibility must be all, private or selected.');
  const id = nextId(call.world, 'group');
  const made = newGroup({ id, name, visibility, allowsPublicRepositories: allowsPublic === true });
  account.runnerGroups.push(made);
  return { status: 201, body: groupJson(call.world, account, made) };
}

function isVisibility(value: unknown): value is GroupVisibility {
  return value === 'all' || value === 'private' || value === 'selected';
}

function namedGroup(call: InstallationCall): RunnerGroup {
  const id = idParam(call, 'runner_group_id');
  const group = reachableOrganization(call).runnerGroups.find((each) => each.id === id);
  if (group === undefined) throw notFound();
  return group;
}

function groupJson(world: World, account: Account, group: RunnerGroup): Payload {
  return {
    id: group.id,
    name: group.name,
    visibility: group.visibility,
    default: group.isDefault,
    runners_url: `${world.url}/orgs/${account.login}/actions/runner-groups/${group.id}/runners`,
    inherited: false,
    allows_public_repositories: group.allowsPublicRepositories,
    workflow_restrictions_read_only: false,
    restricted_to_workflows: group.workflows !== null,
    selected_workflows: [...(group.workflows ?? [])],
  };
}
