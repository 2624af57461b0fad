import type { Account, Repository } from './account.ts';
import { exampleOf, objectField, replaceTexts, type Payload } from './examples.ts';
import { fullName } from './accounts.ts';

/**
 * The parts that payloads and answers share: cut from a real example and filled with the world's
 * names and ids.
 */

const withOrganization = exampleOf('workflow_job', 2);
const repositoryExample = objectField(withOrganization, 'repository');
const ownerExample = objectField(repositoryExample, 'owner');
const organizationExample = objectField(withOrganization, 'organization');
const senderExample = objectField(withOrganization, 'sender');

/** `simple-user`: an account as it appears inside other objects. */
export function simpleUser(account: Account): Payload {
  return {
    ...replaceTexts(ownerExample, [['Octocoders', account.login]]),
    id: account.id,
    node_id: nodeId('U', account.id),
    type: account.type,
  };
}

export function organizationFragment(account: Account): Payload {
  return {
    ...replaceTexts(organizationExample, [['Octocoders', account.login]]),
    id: account.id,
    node_id: nodeId('O', account.id),
  };
}

/** The user who caused an event. */
export function senderFragment(): Payload {
  return senderExample;
}

const repositoryFragments = new WeakMap<
  Repository,
  { readonly name: string; readonly payload: Payload }
>();

/**
 * A repository with all its addresses. Made again only when its name changed: thousands of payloads
 * contain it.
 */
export function repositoryFragment(repository: Repository): Payload {
  const name = fullName(repository);
  const known = repositoryFragments.get(repository);
  if (known?.name === name) return known.payload;
  const payload = {
    ...replaceTexts(repositoryExample, [['Codertocat/Hello-World', name]]),
    id: repository.id,
    node_id: nodeId('R', repository.id),
    name: repository.name,
    full_name: name,
    private: repository.private,
    archived: repository.archived,
    visibility: repository.private ? 'private' : 'public',
    // A date after the example's.
    has_discussions: false,
    allow_forking: !repository.private,
    owner: simpleUser(repository.owner),
  };
  repositoryFragments.set(repository, { name, payload });
  return payload;
}

/** An opaque id in the form of GitHub's. */
export function nodeId(kind: string, id: number): string {
  return `${kind}_${Buffer.from(`simulated:${kind}:${id}`).toString('base64url')}`;
}
