import { readRunnerName } from '@paddock/domain/workers/runner-name';
import type { InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { foundOrNot } from './found-or-not.ts';
import { PER_PAGE, readPages } from './read-pages.ts';
import { describeScope, type RegistrationScope } from './scope.ts';

/**
 * A self-hosted runner as GitHub sees it. GitHub's view lags: `busy` may be false for minutes into
 * a job.
 */
export type GitHubRunner = {
  readonly id: number;
  readonly name: string;
  readonly online: boolean;
  readonly busy: boolean;
  readonly labels: readonly string[];
};

export type JitRequest = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly runnerGroupId: number;
  /** `_work`, as GitHub's default, if absent. */
  readonly workFolder?: string;
};

/**
 * Registers an ephemeral runner and returns the JIT config that it starts with. The JIT config is a
 * secret, and GitHub sends it this one time only. Throws (see `classifyGitHubError`): `conflict`
 * when a runner of that name is registered in the scope already.
 */
export async function createJitConfig(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  { name, labels, runnerGroupId, workFolder }: JitRequest,
): Promise<{ readonly runnerId: number; readonly jitConfig: string }> {
  const body = {
    name,
    labels: [...labels],
    runner_group_id: runnerGroupId,
    ...(workFolder === undefined ? {} : { work_folder: workFolder }),
  };
  const { data } =
    scope.kind === 'organization'
      ? await octokit.rest.actions.generateRunnerJitconfigForOrg({ org: scope.owner, ...body })
      : await octokit.rest.actions.generateRunnerJitconfigForRepo({
          owner: scope.owner,
          repo: scope.repo,
          ...body,
        });
  // Our own error texts: a proxy between us and GitHub may answer anything.
  const { runner, encoded_jit_config: jitConfig }: Partial<typeof data> = data ?? {};
  const without = (what: string) =>
    new Error(
      `GitHub registered the runner ${name} in ${describeScope(scope)}, but its answer lacks the ${what}.`,
    );
  if (typeof jitConfig !== 'string' || jitConfig === '') throw without('JIT config');
  if (typeof runner?.id !== 'number') throw without('id');
  return { runnerId: runner.id, jitConfig };
}

/** The runner of exactly this name, if it is registered in the scope. */
export async function findRunner(
  client: InstallationClient,
  scope: RegistrationScope,
  name: string,
): Promise<GitHubRunner | undefined> {
  // Enterprise Servers that do not know the filter answer all runners.
  return (await readRunners(client, scope, { name })).find((runner) => runner.name === name);
}

/** All runners of the scope, page by page (100 each). */
export function listRunners(
  client: InstallationClient,
  scope: RegistrationScope,
): Promise<GitHubRunner[]> {
  return readRunners(client, scope, {});
}

async function readRunners(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  filter: { readonly name?: string },
): Promise<GitHubRunner[]> {
  const { actions } = octokit.rest;
  return readPages(async (page) => {
    const query = { per_page: PER_PAGE, page, ...filter };
    const { data, headers } =
      scope.kind === 'organization'
        ? await actions.listSelfHostedRunnersForOrg({ org: scope.owner, ...query })
        : await actions.listSelfHostedRunnersForRepo({
            owner: scope.owner,
            repo: scope.repo,
            ...query,
          });
    const { runners: items, total_count: total }: Partial<typeof data> = data ?? {};
    if (!Array.isArray(items))
      throw new Error(`GitHub answered without a list of the runners of ${describeScope(scope)}.`);
    return { items: items.map(parseRunner), total, link: headers.link };
  });
}

/** One runner by its id; undefined when GitHub answers 404. */
export async function getRunner(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  runnerId: number,
): Promise<GitHubRunner | undefined> {
  return foundOrNot(async () => {
    const { data } =
      scope.kind === 'organization'
        ? await octokit.rest.actions.getSelfHostedRunnerForOrg({
            org: scope.owner,
            runner_id: runnerId,
          })
        : await octokit.rest.actions.getSelfHostedRunnerForRepo({
            owner: scope.owner,
            repo: scope.repo,
            runner_id: runnerId,
          });
    return parseRunner(data);
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
    if (scope.kind === 'organization') {
      await octokit.rest.actions.deleteSelfHostedRunnerFromOrg({
        org: scope.owner,
        runner_id: runnerId,
      });
    } else {
      await octokit.rest.actions.deleteSelfHostedRunnerFromRepo({
        owner: scope.owner,
        repo: scope.repo,
        runner_id: runnerId,
      });
    }
    return 'deleted';
  } catch (error) {
    const { kind, operation, status } = classifyGitHubError(error);
    if (kind === 'not_found' && !operation.endsWith('/access_tokens')) return 'absent';
    if (status === 422) return 'busy';
    throw error;
  }
}

/** A runner in an answer of GitHub's, or of a proxy in its place. */
type RunnerAnswer = {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly status?: unknown;
  readonly busy?: unknown;
  readonly labels?: readonly { readonly name: string }[];
} | null;

/**
 * Refuses an answer that lacks a fact which decides about a runner: we would conclude that a runner
 * is missing or idle.
 */
function parseRunner(answer: RunnerAnswer): GitHubRunner {
  const { id, name, status, busy, labels = [] } = answer ?? {};
  if (
    typeof id !== 'number' ||
    typeof name !== 'string' ||
    typeof status !== 'string' ||
    typeof busy !== 'boolean'
  ) {
    throw new Error(
      'GitHub listed a runner without its id, its name, its status or whether it is busy.',
    );
  }
  return {
    id,
    name: readRunnerName(name),
    online: status === 'online',
    busy,
    labels: labels.map((label) => label.name),
  };
}
