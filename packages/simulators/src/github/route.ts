import type { Installation } from './accounts.ts';
import type { Payload } from './fragments.ts';
import type { RateResource } from './rate-limits.ts';
import type { SimulatedApp, World } from './world.ts';

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

type RouteBase = {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** As in GitHub's description, with `:name` for `{name}`. */
  readonly path: string;
  /** GitHub's operation id; calls are counted by it. */
  readonly operation: string;
  readonly resource?: RateResource;
  /** Counts against no limit. */
  readonly isFree?: boolean;
};

/** An endpoint, for an App's JSON web token or for an installation's token. */
export type Route =
  | (RouteBase & { readonly caller: 'app'; readonly answer: (call: AppCall) => Answer })
  | (RouteBase & {
      readonly caller: 'installation';
      readonly answer: (call: InstallationCall) => Answer;
    });

export function textParam({ params }: Call, name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`The route has no parameter ${name}.`);
  return value;
}

/** An id in the path. GitHub answers 404 for a text that is not a number. */
export function idParam(call: Call, name: string): number {
  const id = Number(textParam(call, name));
  if (!Number.isSafeInteger(id)) throw new Refusal(404, 'Not Found');
  return id;
}

/** An answer of GitHub's that is not a success; thrown by the function that finds the reason. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

export function notFound(): Refusal {
  return new Refusal(404, 'Not Found');
}

/** The items of the requested page, with GitHub's Link header to the other pages. */
export function pageOf<T>(
  call: Call,
  items: readonly T[],
): { readonly items: readonly T[]; readonly headers: Answer['headers'] & object } {
  const perPage = perPageOf(call);
  const page = Math.max(Number(call.query.get('page') ?? 1) || 1, 1);
  const last = Math.max(Math.ceil(items.length / perPage), 1);
  const links = [
    ...(page > 1 ? [link(call, { page: page - 1 }, 'prev')] : []),
    ...(page < last
      ? [link(call, { page: page + 1 }, 'next'), link(call, { page: last }, 'last')]
      : []),
    ...(page > 1 ? [link(call, { page: 1 }, 'first')] : []),
  ];
  return {
    items: items.slice((page - 1) * perPage, page * perPage),
    headers: links.length === 0 ? {} : { link: links.join(', ') },
  };
}

export function perPageOf({ query }: Call): number {
  return Math.min(Math.max(Number(query.get('per_page') ?? 30) || 30, 1), 100);
}

/** One entry of a Link header: the requested address with some of its query replaced. */
export function link(
  { world, path, query }: Call,
  changes: Readonly<Record<string, string | number>>,
  relation: string,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) changed.set(name, String(value));
  return `<${world.url}${path}?${changed.toString()}>; rel="${relation}"`;
}
