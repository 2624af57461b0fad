import type { InstallationClient } from './connect.ts';
import { classifyGitHubError, type GitHubFailure } from './errors.ts';
import { PER_PAGE, readPages } from './read-pages.ts';

/** Every organisation has it, under this id; repositories have no other. */
export const DEFAULT_RUNNER_GROUP_ID = 1;

export type RunnerGroupSettings = {
  readonly name: string;
  /** Which repositories may use it. */
  readonly visibility: 'all' | 'private' | 'selected';
  readonly allowsPublicRepositories: boolean;
};

/**
 * The id of the organisation's runner group of that name; made with these settings if there is none. A group that exists is left as it is:
 * who may use it has been decided there, and widening it would let strangers' code in. Where there are no groups (403, 404: the plan, the
 * App's permissions) it is the default group, which `onRefused` is told, as it is for the name "Default", without a call.
 */
export async function ensureRunnerGroup(
  client: InstallationClient,
  org: string,
  settings: RunnerGroupSettings,
  onRefused?: OnGroupRefused,
): Promise<number> {
  if (settings.name.toLowerCase() === 'default') return DEFAULT_RUNNER_GROUP_ID;
  try {
    return (await findRunnerGroup(client, org, settings.name))?.id ?? (await createRunnerGroup(client, org, settings));
  } catch (error) {
    const failure = classifyGitHubError(error);
    if (failure.kind !== 'forbidden' && failure.kind !== 'not_found') throw error;
    onRefused?.(org, settings.name, failure);
    return DEFAULT_RUNNER_GROUP_ID;
  }
}

/** GitHub lets us have no group of that name: runners of the organisation go to the default one. */
export type OnGroupRefused = (org: string, name: string, failure: GitHubFailure) => void;

/* These endpoints are GitHub's, but not in Octokit's list of methods; their answers are read as what they are said to be. */

type GroupAnswer = {
  readonly id: number;
  readonly name: string;
  readonly visibility: RunnerGroupSettings['visibility'];
  readonly allows_public_repositories: boolean;
  readonly restricted_to_workflows?: boolean;
  readonly selected_workflows?: readonly string[];
};

const GROUPS = '/orgs/{org}/actions/runner-groups';
/** Any text to the compiler, whose own idea of the answer is a looser one. */
const LIST_GROUPS: string = `GET ${GROUPS}`;

async function findRunnerGroup({ octokit }: InstallationClient, org: string, name: string): Promise<GroupAnswer | undefined> {
  const groups = await readPages(async (page) => {
    const { data, headers } = await octokit.request(LIST_GROUPS, { org, per_page: PER_PAGE, page });
    const { runner_groups: items, total_count: total }: { runner_groups: GroupAnswer[]; total_count: number } = data;
    return { items, total, link: headers.link };
  });
  return groups.find((group) => group.name.toLowerCase() === name.toLowerCase());
}

/** Whose jobs a runner group takes. */
export type RunnerGroupAccess = RunnerGroupSettings & {
  /** Null: those of any workflow. */
  readonly workflows: readonly string[] | null;
};

/** Whose jobs the organisation's group of that name takes; undefined if there is none. Throws what Octokit throws. */
export async function findRunnerGroupAccess(client: InstallationClient, org: string, name: string): Promise<RunnerGroupAccess | undefined> {
  const group = await findRunnerGroup(client, org, name);
  if (group === undefined) return undefined;
  const { visibility, allows_public_repositories: allowsPublicRepositories, restricted_to_workflows: isRestricted = false } = group;
  return { name: group.name, visibility, allowsPublicRepositories, workflows: isRestricted ? (group.selected_workflows ?? []) : null };
}

async function createRunnerGroup(client: InstallationClient, org: string, settings: RunnerGroupSettings): Promise<number> {
  const { name, visibility, allowsPublicRepositories } = settings;
  try {
    const body = { org, name, visibility, allows_public_repositories: allowsPublicRepositories };
    const { data }: { data: Pick<GroupAnswer, 'id'> } = await client.octokit.request(`POST ${GROUPS}`, body);
    return data.id;
  } catch (error) {
    // Another replica was quicker.
    const found = classifyGitHubError(error).kind === 'conflict' ? await findRunnerGroup(client, org, name) : undefined;
    if (found === undefined) throw error;
    return found.id;
  }
}

/** Remembers each organisation's runner groups for a while, and asks once for all who ask at the same time. Failures are not remembered. */
export type RunnerGroups = {
  readonly ensure: (client: InstallationClient, org: string, settings: RunnerGroupSettings) => Promise<number>;
  /** After GitHub did not know the group any more. */
  readonly forget: (org: string) => void;
};

type Remembered = { readonly id: Promise<number>; readonly until: number };

export function createRunnerGroups({
  lifetimeMs,
  now = Date.now,
  onRefused,
}: {
  readonly lifetimeMs: number;
  readonly now?: () => number;
  /** Told once in a lifetime. */
  readonly onRefused?: OnGroupRefused;
}): RunnerGroups {
  const organizations = new Map<string, Map<string, Remembered>>();
  return {
    ensure(client, org, settings) {
      const groups = organizations.get(org.toLowerCase()) ?? new Map<string, Remembered>();
      organizations.set(org.toLowerCase(), groups);
      const known = groups.get(settings.name);
      if (known !== undefined && known.until > now()) return known.id;
      const id = ensureRunnerGroup(client, org, settings, onRefused);
      const remembered = { id, until: now() + lifetimeMs };
      groups.set(settings.name, remembered);
      id.catch(() => {
        if (groups.get(settings.name) === remembered) groups.delete(settings.name);
      });
      return id;
    },
    forget: (org) => void organizations.delete(org.toLowerCase()),
  };
}
