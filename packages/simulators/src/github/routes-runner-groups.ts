import { repositoryFragment } from './fragments.ts';
import { Refusal, notFound } from './refusal.ts';
import {
  type Answer,
  type InstallationCall,
  type Route,
  idParam,
  pageOf,
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
  {
    method: 'get',
    path: PATH,
    operation: 'actions/list-self-hosted-runner-groups-for-org',
    caller: 'installation',
    answer: listGroups,
  },
  {
    method: 'post',
    path: PATH,
    operation: 'actions/create-self-hosted-runner-group-for-org',
    caller: 'installation',
    answer: createGroup,
  },
  {
    method: 'get',
    path: `${PATH}/:runner_group_id/repositories`,
    operation: 'actions/list-repo-access-to-self-hosted-runner-group-in-org',
    caller: 'installation',
    answer: listRepositories,
  },
];

function listGroups(call: InstallationCall): Answer {
  const account = reachableOrganization(call);
  const { items, headers } = pageOf(call, account.runnerGroups);
  const runner_groups = items.map((group) => groupJson(call.world, account, group));
  return {
    status: 200,
    headers,
    body: { total_count: account.runnerGroups.length, runner_groups },
  };
}

function createGroup(call: InstallationCall): Answer {
  const account = reachableOrganization(call);
  if (!account.hasRunnerGroups)
    throw new Refusal(403, 'Runner groups are not available on the plan of this organization.');
  const { name } = call.body;
  if (typeof name !== 'string' || name === '') throw new Refusal(422, 'Name is missing.');
  if (account.runnerGroups.some((group) => group.name.toLowerCase() === name.toLowerCase())) {
    throw new Refusal(409, 'A runner group with this name exists.');
  }
  const group = {
    id: nextId(call.world, 'group'),
    name,
    visibility: 'all',
    allowsPublicRepositories: false,
    isDefault: false,
  } as const;
  const made: RunnerGroup = {
    ...group,
    repositoryIds: new Set(),
    workflows: null,
    ...settingsIn(call),
  };
  account.runnerGroups.push(made);
  return { status: 201, body: groupJson(call.world, account, made) };
}

function listRepositories(call: InstallationCall): Answer {
  const { repositoryIds } = namedGroup(call);
  const all = [...call.world.repositories.values()].filter(({ id }) => repositoryIds.has(id));
  const { items, headers } = pageOf(call, all);
  return {
    status: 200,
    headers,
    body: { total_count: all.length, repositories: items.map((one) => repositoryFragment(one)) },
  };
}

type Settings = Partial<Pick<RunnerGroup, 'visibility' | 'allowsPublicRepositories'>>;

function settingsIn({ body }: InstallationCall): Settings {
  const { visibility, allows_public_repositories: allowsPublicRepositories } = body;
  if (visibility !== undefined && !isVisibility(visibility))
    throw new Refusal(422, 'Visibility must be all, private or selected.');
  return {
    ...(visibility === undefined ? {} : { visibility }),
    ...(typeof allowsPublicRepositories === 'boolean' ? { allowsPublicRepositories } : {}),
  };
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
