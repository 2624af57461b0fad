import { createHash } from 'node:crypto';
import { covers, findAccount, findRepository, fullName } from './accounts.ts';
import { notFound, Refusal } from './refusal.ts';
import type {
  Account,
  Installation,
  Payload,
  RateResource,
  Repository,
  RunnerScope,
  SimulatedApp,
  World,
} from './world.ts';

/** An endpoint's view of a request. */
export type Call = {
  readonly world: World;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Payload;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The requested path, without the query. */
  readonly path: string;
  readonly method: string;
};

export type AppCall = Call & { readonly app: SimulatedApp };
export type InstallationCall = Call & { readonly installation: Installation };

export type Answer = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

type Options = {
  readonly resource?: RateResource;
  /** Counts against no limit. */
  readonly isFree?: boolean;
};

/** An endpoint, for an App's JSON web token or for an installation's token. */
export type Route = Options & {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly operation: string;
} & (
    | { readonly caller: 'app'; readonly answer: (call: AppCall) => Answer }
    | { readonly caller: 'installation'; readonly answer: (call: InstallationCall) => Answer }
  );

/**
 * `address` is method and path as in GitHub's description, with `:name` for `{name}`. Calls are
 * counted by `operation`, GitHub's id.
 */
export function forApp(
  address: string,
  operation: string,
  answer: (call: AppCall) => Answer,
): Route {
  return { ...parsed(address), operation, caller: 'app', answer };
}

export function forInstallation(
  address: string,
  operation: string,
  answer: (call: InstallationCall) => Answer,
  options: Options = {},
): Route {
  return { ...parsed(address), operation, caller: 'installation', answer, ...options };
}

function parsed(address: string): Pick<Route, 'method' | 'path'> {
  const [method, path = ''] = address.split(' ');
  return { method: method as Route['method'], path };
}

export function textParam({ params }: Call, name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`The route has no parameter ${name}.`);
  return value;
}

/** An id in the path. GitHub answers 404 for a text that is not a number. */
export function idParam(call: Call, name: string): number {
  const id = Number(textParam(call, name));
  if (!Number.isSafeInteger(id)) throw notFound();
  return id;
}

/** The items of the requested page, with GitHub's Link header to the next one. */
export function pageOf<T>(
  call: Call,
  items: readonly T[],
): { readonly items: readonly T[]; readonly headers: Answer['headers'] & object } {
  const perPage = perPageOf(call);
  const page = Math.max(Number(call.query.get('page') ?? 1) || 1, 1);
  const end = page * perPage;
  return {
    items: items.slice(end - perPage, end),
    headers: end < items.length ? { link: nextLink(call, 'page', page + 1) } : {},
  };
}

/** A page of a list as GitHub has it: with the number of all, under `name`. */
export function listOf<T>(
  call: Call,
  name: string,
  all: readonly T[],
  json: (item: T) => Payload,
): Answer {
  const { items, headers } = pageOf(call, all);
  return { status: 200, headers, body: { total_count: all.length, [name]: items.map(json) } };
}

export function perPageOf({ query }: Call): number {
  return Math.min(Math.max(Number(query.get('per_page') ?? 30) || 30, 1), 100);
}

/** A Link header to the next page: the requested address with one field of its query replaced. */
export function nextLink(
  { world, path, query }: Call,
  name: string,
  value: string | number,
): string {
  const changed = new URLSearchParams(query);
  changed.set(name, String(value));
  return `<${world.url}${path}?${changed.toString()}>; rel="next"`;
}

/**
 * The repository at a path. For its former name GitHub redirects to the present one: 301 for
 * reading, 307 for the rest.
 */
function repositoryOf(call: Call): Repository {
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

/**
 * A call with the ETag of an unchanged answer costs no budget. An ETag is valid only for the token
 * that got it.
 */
export function unlessKnown({ headers }: Call, answer: Answer): Answer {
  const seen = JSON.stringify([headers['authorization'], answer.body]);
  const etag = `W/"${createHash('sha256').update(seen).digest('hex')}"`;
  return headers['if-none-match'] === etag
    ? { status: 304, headers: { etag } }
    : { ...answer, headers: { ...answer.headers, etag } };
}
