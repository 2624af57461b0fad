import type { GroupAccess } from '@paddock/domain/pools/runner-group';
import { id } from '@paddock/domain/deliveries/payload-fields';
import { z } from 'zod';
import type { InstallationClient } from './connect.ts';
import { classifyGitHubError, type GitHubFailure } from './errors.ts';
import { PER_PAGE, readAnswer, readPages, totalCount } from './read-answers.ts';

/** Every organisation has it, under this id; repositories have no other. */
export const DEFAULT_RUNNER_GROUP_ID = 1;

export type RunnerGroupSettings = {
  readonly name: string;
  /** The repositories that may use it. */
  readonly visibility: 'all' | 'private' | 'selected';
  readonly allowsPublicRepositories: boolean;
};

/**
 * A runner group by its id, and whose jobs it takes; undefined for the default one, which is not
 * read.
 */
export type RunnerGroup = { readonly id: number; readonly access: GroupAccess | undefined };

/**
 * A new object each time: a caller's conclusions from one answer must not reach other organisations
 * or later answers.
 */
const defaultGroup = (): RunnerGroup => ({ id: DEFAULT_RUNNER_GROUP_ID, access: undefined });

/**
 * The organisation's runner group of that name; makes it with these settings if there is none.
 * Leaves an existing group as it is: people have decided who may use it, and widening it would let
 * strangers' code in. Where there are no groups (403, 404: the plan, the App's permissions) it
 * gives the default group and calls `onRefused`. The name "Default" also gives the default group,
 * without a call.
 */
export async function ensureRunnerGroup(
  client: InstallationClient,
  org: string,
  settings: RunnerGroupSettings,
  onRefused?: OnGroupRefused,
): Promise<RunnerGroup> {
  if (settings.name.toLowerCase() === 'default') return defaultGroup();
  let group: GroupAnswer;
  try {
    group =
      (await findRunnerGroup(client, org, settings.name)) ??
      (await createRunnerGroup(client, org, settings));
  } catch (error) {
    const failure = refusalOf(error);
    onRefused?.(org, settings.name, failure);
    return defaultGroup();
  }
  const {
    id: groupId,
    visibility,
    allows_public_repositories: allowsPublicRepositories,
    restricted_to_workflows: isRestricted = false,
    selected_workflows: selected = [],
  } = group;
  const workflows = isRestricted ? selected : null;
  const repositories = await listRepositories(client, org, group);
  return { id: groupId, access: { visibility, allowsPublicRepositories, workflows, repositories } };
}

/** GitHub's permanent refusal, by plan or permission. Throws any other failure on. */
function refusalOf(error: unknown): GitHubFailure {
  const failure = classifyGitHubError(error);
  if (failure.kind !== 'forbidden' && failure.kind !== 'not_found') throw error;
  return failure;
}

/**
 * GitHub lets us have no group of that name: the organisation's runners go to the default group.
 */
export type OnGroupRefused = (org: string, name: string, failure: GitHubFailure) => void;

/** Whose jobs it takes must be there: a group that seems open would get jobs that it refuses. */
const groupAnswer = z.object({
  id,
  name: z.string(),
  // A later word of GitHub's may admit all.
  visibility: z.enum(['all', 'private', 'selected']).or(z.string().transform(() => 'all' as const)),
  allows_public_repositories: z.boolean(),
  restricted_to_workflows: z.boolean().optional(),
  selected_workflows: z.array(z.string()).optional(),
});

type GroupAnswer = Readonly<z.infer<typeof groupAnswer>>;
const groupList = z.object({ runner_groups: z.array(groupAnswer), total_count: totalCount });
const repositoryList = z.object({
  repositories: z.array(z.object({ id, full_name: z.string() })),
  total_count: totalCount,
});

const GROUPS = '/orgs/{org}/actions/runner-groups';
/** Any text to the compiler: Octokit's list of methods lacks these, and its answers have no type. */
const LIST_GROUPS: string = `GET ${GROUPS}`;
const MAKE_GROUP: string = `POST ${GROUPS}`;
const LIST_REPOSITORIES: string = `GET ${GROUPS}/{runner_group_id}/repositories`;

async function findRunnerGroup(
  { octokit }: InstallationClient,
  org: string,
  name: string,
): Promise<GroupAnswer | undefined> {
  const groups = await readPages(async (page) => {
    const query = { org, per_page: PER_PAGE, page };
    const answer = await octokit.request(LIST_GROUPS, query);
    const { data, headers } = readAnswer(answer, groupList);
    return { items: data.runner_groups, total: data.total_count, link: headers.link };
  });
  return groups.find((group) => group.name.toLowerCase() === name.toLowerCase());
}

/**
 * The repositories of a group with selected ones, as owner/name. Null for any other group, and
 * where GitHub does not show them (403, 404).
 */
async function listRepositories(
  { octokit }: InstallationClient,
  org: string,
  group: GroupAnswer,
): Promise<string[] | null> {
  if (group.visibility !== 'selected') return null;
  try {
    const repositories = await readPages(async (page) => {
      const query = { org, runner_group_id: group.id, per_page: PER_PAGE, page };
      const { data, headers } = readAnswer(
        await octokit.request(LIST_REPOSITORIES, query),
        repositoryList,
      );
      return { items: data.repositories, total: data.total_count, link: headers.link };
    });
    return repositories.map(({ full_name: fullName }) => fullName);
  } catch (error) {
    refusalOf(error);
    return null;
  }
}

async function createRunnerGroup(
  client: InstallationClient,
  org: string,
  settings: RunnerGroupSettings,
): Promise<GroupAnswer> {
  const { name, visibility, allowsPublicRepositories } = settings;
  try {
    const body = { org, name, visibility, allows_public_repositories: allowsPublicRepositories };
    return readAnswer(await client.octokit.request(MAKE_GROUP, body), groupAnswer).data;
  } catch (error) {
    // Another replica was quicker.
    const found =
      classifyGitHubError(error).kind === 'conflict'
        ? await findRunnerGroup(client, org, name)
        : undefined;
    if (found === undefined) throw error;
    return found;
  }
}

type Remembered = { readonly group: Promise<RunnerGroup>; readonly until: number };

/** A group rarely changes, and a wrong id is forgotten at once. */
const GROUP_LIFETIME_MS = 3_600_000;

export type RunnerGroups = ReturnType<typeof createRunnerGroups>;

/**
 * Remembers each organisation's runner groups for a while, and asks once for simultaneous callers.
 * Does not remember failures.
 */
export function createRunnerGroups({
  lifetimeMs = GROUP_LIFETIME_MS,
  now = Date.now,
  onRefused,
}: {
  readonly lifetimeMs?: number;
  readonly now?: () => number;
  /** Called once in a lifetime. */
  readonly onRefused?: OnGroupRefused;
}) {
  const organizations = new Map<string, Map<string, Remembered>>();
  return {
    ensure(client: InstallationClient, org: string, settings: RunnerGroupSettings) {
      const groups = organizations.get(org.toLowerCase()) ?? new Map<string, Remembered>();
      organizations.set(org.toLowerCase(), groups);
      const known = groups.get(settings.name);
      if (known !== undefined && known.until > now()) return known.group;
      const group = ensureRunnerGroup(client, org, settings, onRefused);
      const remembered = { group, until: now() + lifetimeMs };
      groups.set(settings.name, remembered);
      group.catch(() => {
        if (groups.get(settings.name) === remembered) groups.delete(settings.name);
      });
      return group;
    },
    /** For when GitHub does not know the group's id. */
    forget: (org: string) => void organizations.delete(org.toLowerCase()),
  };
}
