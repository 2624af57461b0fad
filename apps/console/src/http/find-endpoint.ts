import type { Endpoint } from '@paddock/api/endpoint';

/** What a request's path leads to. */
export type Found =
  | { readonly endpoint: Endpoint; readonly path: Readonly<Record<string, string>> }
  /** Nothing for this method; no method at all: there is no such path. */
  | { readonly methods: readonly string[] };

interface Route {
  readonly endpoint: Endpoint;
  readonly segments: readonly string[];
}

/** Finds endpoints by method and path. A word in a path comes before a field at its place. */
export function createFindEndpoint(
  endpoints: readonly Endpoint[],
): (method: string, pathname: string) => Found {
  // A brace sorts after all characters of a word.
  const routes: Route[] = endpoints
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map((endpoint) => ({ endpoint: strict(endpoint), segments: endpoint.path.split('/') }));
  return (method, pathname) => {
    const segments = decodedSegments(pathname);
    const fitting =
      segments === undefined ? [] : routes.filter(({ segments: route }) => fits(route, segments));
    // As in HTTP: HEAD is GET without the body.
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = fitting.find(({ endpoint }) => endpoint.method === wanted);
    if (found === undefined || segments === undefined)
      return { methods: [...new Set(fitting.map(({ endpoint }) => endpoint.method))] };
    return { endpoint: found.endpoint, path: fieldsIn(found.segments, segments) };
  };
}

/** Refuses unknown fields: a list without a misspelt filter would be another list. */
const strict = (endpoint: Endpoint): Endpoint => ({ ...endpoint, input: endpoint.input.strict() });

const fits = (route: readonly string[], segments: readonly string[]): boolean =>
  route.length === segments.length &&
  route.every((word, index) => (isField(word) ? segments[index] !== '' : word === segments[index]));

const isField = (word: string): boolean => word.startsWith('{');

const fieldsIn = (route: readonly string[], segments: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    route.flatMap((word, index) =>
      isField(word) ? [[word.slice(1, -1), segments[index] ?? '']] : [],
    ),
  );

/** Split before decoding, so that a value may hold an encoded slash. Undefined: it is no URL. */
function decodedSegments(pathname: string): string[] | undefined {
  try {
    return pathname.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
