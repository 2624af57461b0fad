import { id } from '@paddock/domain/deliveries/payload-fields';
import { asRecord } from '@paddock/domain/pools/as-record';
import { readRunnerName } from '@paddock/domain/workers/worker-name';
import { z } from 'zod';
import type { InstallationClient } from './connect.ts';
import { classifyGitHubError, foundOrNot } from './errors.ts';
import { isThat, PER_PAGE, readAnswer, readPages, totalCount } from './read-answers.ts';
import { findRepository } from './repositories.ts';

/**
 * Where a runner registers. A runner of an organisation may run any job of its repositories that
 * the runner group admits; a runner of a repository runs that repository's jobs only. Names change,
 * so callers look them up by id just before a call.
 */
export type RegistrationScope =
  | { readonly kind: 'organization'; readonly owner: string }
  | { readonly kind: 'repository'; readonly owner: string; readonly repo: string };

/**
 * A scope by today's names, since repositories are renamed. `scopeRepoId` 0 is the organisation.
 * Undefined: GitHub does not show us the repository.
 */
export async function findScope(
  client: InstallationClient,
  { scopeRepoId, login }: { readonly scopeRepoId: number; readonly login: string },
): Promise<RegistrationScope | undefined> {
  if (scopeRepoId === 0) return { kind: 'organization', owner: login };
  const found = await findRepository(client, scopeRepoId);
  return found && { kind: 'repository', owner: found.owner, repo: found.name };
}

/**
 * A self-hosted runner as GitHub sees it. GitHub's view lags: `busy` may be false for minutes into
 * a job. An answer that lacks a fact which decides about it is refused: we would conclude that a
 * runner is missing or idle. It is offline by this word alone.
 */
const runner = z
  .object({ id, name: z.string(), status: z.string(), busy: z.boolean() })
  .transform(({ name, status, ...of }) => ({
    ...of,
    name: readRunnerName(name),
    online: status !== 'offline',
  }));

export type GitHubRunner = Readonly<z.infer<typeof runner>>;

/** The body of a 204. */
const NOTHING = z.union([z.undefined(), z.literal('')]);

const runners = z.object({ runners: z.array(runner), total_count: totalCount });

export type JitRequest = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly runnerGroupId: number;
};

/**
 * Registers an ephemeral runner and returns the JIT config that it starts with. The JIT config is a
 * secret, and GitHub sends it this one time only. Throws (see `classifyGitHubError`): `conflict`
 * when a runner of that name is registered in the scope already.
 */
export async function createJitConfig(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  { name, labels, runnerGroupId }: JitRequest,
): Promise<{ readonly runnerId: number; readonly jitConfig: string }> {
  const { data } = await octokit.request(`POST ${runnersOf(scope)}/generate-jitconfig`, {
    name,
    labels,
    runner_group_id: runnerGroupId,
  });
  // Our own error texts: a proxy between us and GitHub may answer anything.
  const { runner: made, encoded_jit_config: jitConfig } = asRecord(data);
  const without = (what: string) =>
    new Error(
      `GitHub registered the runner ${name} in ${describeScope(scope)}, but its answer lacks the ${what}.`,
    );
  if (typeof jitConfig !== 'string' || jitConfig === '') throw without('JIT config');
  const runnerId = id.safeParse(asRecord(made)['id']).data;
  if (runnerId === undefined) throw without('id');
  return { runnerId, jitConfig };
}

/** The runner of exactly this name, if it is registered in the scope. */
export async function findRunner(
  client: InstallationClient,
  scope: RegistrationScope,
  name: string,
): Promise<GitHubRunner | undefined> {
  // Enterprise Servers that do not know the filter answer all runners.
  return (await listRunners(client, scope, { name })).find((one) => one.name === name);
}

/** All runners of the scope, page by page (100 each). */
export function listRunners(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  filter: { readonly name?: string } = {},
): Promise<GitHubRunner[]> {
  return readPages(async (page) => {
    const query = { per_page: PER_PAGE, page, ...filter };
    const answer = await octokit.request(`GET ${runnersOf(scope)}`, query);
    const { data, headers } = readAnswer(answer, runners);
    return { items: data.runners, total: data.total_count, link: headers.link };
  });
}

/** One runner by its id; undefined when GitHub answers 404. */
export async function getRunner(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  runnerId: number,
): Promise<GitHubRunner | undefined> {
  return foundOrNot(async () => {
    const answer = await octokit.request(`GET ${runnersOf(scope)}/${runnerId}`);
    return readAnswer(answer, isThat(runner, runnerId)).data;
  });
}

/**
 * Removes a registration. `busy`: GitHub refuses because the runner works (422). `absent`: there is
 * none (404); GitHub removes an ephemeral runner's registration by itself after its job. `deleted`
 * does not prove that the runner was idle: GitHub's knowledge lags.
 */
export async function deleteRunner(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  runnerId: number,
): Promise<'deleted' | 'absent' | 'busy'> {
  try {
    const answer = await foundOrNot(() =>
      octokit.request(`DELETE ${runnersOf(scope)}/${runnerId}`),
    );
    if (answer === undefined) return 'absent';
    readAnswer(answer, NOTHING);
    return 'deleted';
  } catch (error) {
    if (classifyGitHubError(error).status === 422) return 'busy';
    throw error;
  }
}

/** How long GitHub serves a version of the runner. */
export type VersionEnd = {
  /** From then on it gets no jobs; null: no end is set yet. */
  readonly endsAt: Date | null;
};

/**
 * When a version of the runner ends, as a scope's owner may ask. Undefined when GitHub answers 404:
 * it does not know the version, or it is an older Enterprise Server without this endpoint. Throws
 * what Octokit throws.
 */
export async function findVersionEnd(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  version: string,
): Promise<VersionEnd | undefined> {
  return foundOrNot(async () => {
    const path = `${runnersOf(scope)}/deprecations/${encodeURIComponent(version)}`;
    const { data } = await octokit.request(`GET ${path}`);
    // The end of registrations comes no later, and GitHub does not send it today.
    const ms = Date.parse(String(asRecord(data)['runtime_deprecates_at']));
    return { endsAt: Number.isNaN(ms) ? null : new Date(ms) };
  });
}

/** The path of a scope's runners. Of the answers we trust nothing that we have not looked at. */
const runnersOf = (scope: RegistrationScope): string =>
  scope.kind === 'organization'
    ? `/orgs/${encodeURIComponent(scope.owner)}/actions/runners`
    : `/repos/${encodeURIComponent(scope.owner)}/${encodeURIComponent(scope.repo)}/actions/runners`;

/** For error texts: `acme` or `acme/api`. */
const describeScope = (scope: RegistrationScope): string =>
  scope.kind === 'organization' ? scope.owner : `${scope.owner}/${scope.repo}`;
