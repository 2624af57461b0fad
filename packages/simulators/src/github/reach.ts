import {
  type Account,
  type Repository,
  covers,
  findAccount,
  findRepository,
  fullName,
} from './accounts.ts';
import { notFound, Refusal, textParam, type Call, type InstallationCall } from './route.ts';
import type { RunnerScope } from './runner.ts';

/**
 * The repository at a path. For its former name GitHub redirects to the present one: 301 for
 * reading, 307 for the rest.
 */
export function repositoryOf(call: Call): Repository {
  const asked = `${textParam(call, 'owner')}/${textParam(call, 'repo')}`;
  const renamed = call.world.formerNames.get(asked.toLowerCase());
  if (renamed === undefined) return findRepository(call.world, asked);
  const location = `${call.world.url}${call.path.replace(`/repos/${asked}`, `/repos/${fullName(renamed)}`)}`;
  throw new Refusal(call.method === 'GET' ? 301 : 307, 'Moved Permanently', { location });
}

/** The same, if the installation may see it; else as if it did not exist. */
export function reachableRepository(call: InstallationCall): Repository {
  const repository = repositoryOf(call);
  if (!covers(call.installation, repository)) throw notFound();
  return repository;
}

export function reachableOrganization(call: InstallationCall): Account {
  const account = findAccount(call.world, textParam(call, 'org'));
  if (account !== call.installation.account || account.type !== 'Organization') throw notFound();
  return account;
}

/** The scope of runners at a path: an organisation, or a repository. */
export function reachableScope(call: InstallationCall): RunnerScope {
  if (call.params['org'] !== undefined) return { owner: reachableOrganization(call) };
  const repository = reachableRepository(call);
  return { owner: repository.owner, repository };
}
