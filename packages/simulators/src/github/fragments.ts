import { createRequire } from 'node:module';
import { fullName } from './accounts.ts';
import type { Account, Installation, Payload, Repository, World } from './world.ts';

type Definition = { readonly name: string; readonly examples: readonly Payload[] };

const require = createRequire(import.meta.url);
const definitions = require('@octokit/webhooks-examples') as readonly Definition[];

export function exampleOf(event: string, index: number): Payload {
  const example = definitions.find(({ name }) => name === event)?.examples[index];
  if (example === undefined)
    throw new Error(
      `There is no example ${index} of the event ${event}: choose another event or index.`,
    );
  return example;
}

/** An object field of an example. */
export const objectField = (payload: Payload, field: string): Payload => payload[field] as Payload;

/** The same JSON with every occurrence of the given texts replaced, in values and in URLs. */
function replaceTexts(
  payload: Payload,
  replacements: readonly (readonly [from: string, to: string])[],
): Payload {
  const text = replacements.reduce(
    (json, [from, to]) => json.replaceAll(from, JSON.stringify(to).slice(1, -1)),
    JSON.stringify(payload),
  );
  return JSON.parse(text) as Payload;
}

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
export function simpleUser(account: Pick<Account, 'id' | 'login' | 'type'>): Payload {
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

/** `installation`, as the API answers it and as `installation` events contain it. */
export function installationJson(world: World, installation: Installation): Payload {
  const { id, account, appId } = installation;
  const app = world.apps.get(appId);
  return {
    id,
    account: simpleUser(account),
    repository_selection: installation.selection,
    access_tokens_url: `${world.url}/app/installations/${id}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `${world.url}/organizations/${account.login}/settings/installations/${id}`,
    app_id: appId,
    app_slug: app?.slug ?? 'gone',
    target_id: account.id,
    target_type: account.type,
    permissions: app?.accepted ?? app?.permissions ?? {},
    events: app?.events ?? [],
    created_at: installation.createdAt,
    updated_at: installation.updatedAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: installation.suspendedAt === null ? null : simpleUser(account),
    suspended_at: installation.suspendedAt,
  };
}
