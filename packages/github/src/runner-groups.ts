import type { GroupAccess } from '@paddock/domain/pools/runner-group';
import type { InstallationClient } from './connect.ts';
import { classifyGitHubError, type GitHubFailure } from './errors.ts';
import { PER_PAGE, readPages } from './read-pages.ts';

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
    id,
    visibility,
    allows_public_repositories: allowsPublicRepositories,
    restricted_to_workflows: isRestricted = false,
    selected_workflows: selected = [],
  } = group;
  const workflows = isRestricted ? selected : null;
  const repositories = await listRepositories(client, org, group);
  return { id, access: { visibility, allowsPublicRepositories, workflows, repositories } };
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

/**
 * GitHub has these endpoints, but Octokit's list of methods lacks them. We trust their described
 * answers.
 */

type GroupAnswer = {
  readonly id: number;
  readonly name: string;
  readonly visibility: RunnerGroupSettings['visibility'];
  readonly allows_public_repositories: boolean;
  readonly restricted_to_workflows?: boolean;
  readonly selected_workflows?: readonly string[];
};

const GROUPS = '/orgs/{org}/actions/runner-groups';
/** Any text to the compiler, because Octokit's own type of the answer is looser. */
const LIST_GROUPS: string = `GET ${GROUPS}`;
const MAKE_GROUP: string = `POST ${GROUPS}`;
const LIST_REPOSITORIES: string = `GET ${GROUPS}/{runner_group_id}/repositories`;

async function findRunnerGroup(
  { octokit }: InstallationClient,
  org: string,
  name: string,
): Promise<GroupAnswer | undefined> {
  const groups = await readPages(async (page) => {
    const { data, headers } = await octokit.request(LIST_GROUPS, { org, per_page: PER_PAGE, page });
    const {
      runner_groups: items,
      total_count: total,
    }: { runner_groups: GroupAnswer[]; total_count: number } = data;
    return { items, total, link: headers.link };
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
      const { data, headers } = await octokit.request(LIST_REPOSITORIES, {
        org,
        runner_group_id: group.id,
        per_page: PER_PAGE,
        page,
      });
      const {
        repositories: items,
        total_count: total,
      }: { repositories: { id: number; full_name: string }[]; total_count: number } = data;
      return { items, total, link: headers.link };
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
    const { data }: { data: GroupAnswer } = await client.octokit.request(MAKE_GROUP, body);
    return data;
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
