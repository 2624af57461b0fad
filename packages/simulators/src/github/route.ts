import type { Installation } from './account.ts';
import type { Payload } from './examples.ts';
import type { RateResource } from './rate-limits.ts';
import { Refusal } from './refusal.ts';
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
