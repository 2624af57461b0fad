import type { Db } from '@paddock/db/schema/tables';
import { findInstance } from '@paddock/db/instance';
import { findListableRunners } from '@paddock/db/workers/worker-stops';
import { instancePrefix } from '@paddock/domain/workers/worker-name';
import type { InstallationClient } from '@paddock/github/connect';
import {
  findScope,
  type GitHubRunner,
  listRunners,
  type RegistrationScope,
} from '@paddock/github/runners';
import type { Ask } from '../passes/ask-github.ts';

/** Where runners register; 0 is the organisation. */
interface Place {
  readonly entityId: number;
  readonly scopeRepoId: number;
  readonly login: string;
}

/** What GitHub lists in a scope. */
export interface ListedRunners {
  readonly scope: RegistrationScope;
  /** Those with a name of our instance. */
  readonly ours: readonly GitHubRunner[];
  /** The ids of our runners that GitHub should list; null: not known. */
  readonly registered: readonly (number | null)[];
}

/**
 * Reads from GitHub what `read` makes of the runners of a scope. Undefined, so that the caller
 * concludes nothing, if GitHub does not answer, or does not show us the repository.
 */
export const createReadRunners = async (db: Db) => {
  const prefix = instancePrefix(await findInstance(db));
  return async <T>(
    place: Place,
    ask: Ask,
    read: (listed: ListedRunners, client: InstallationClient) => Promise<T>,
  ): Promise<T | undefined> => {
    const registered = await findListableRunners(db, place);
    return ask(place.login, async (client) => {
      const scope = await findScope(client, place);
      if (scope === undefined) return undefined;
      const ours = (await listRunners(client, scope)).filter(({ name }) => name.startsWith(prefix));
      return read({ scope, ours, registered }, client);
    });
  };
};

/** Tells scopes apart. */
export const scopeKey = ({ entityId, scopeRepoId }: Omit<Place, 'login'>): string =>
  `${entityId} ${scopeRepoId}`;
