import type { Item } from './answers.ts';

/** Where the page has something: the console answers 404 elsewhere. `views/views.ts` draws each. */
export const PATHS = [
  '/',
  '/pools',
  '/pools/{pool}',
  '/jobs',
  '/jobs/{job}',
  '/runs/{run}',
  '/workers',
  '/workers/{worker}',
  '/nodes',
  '/operations',
  '/operations/{operation}',
  '/usage',
  '/active',
  '/compare',
  '/installations',
  '/installations/{installation}',
  '/repositories',
  '/repositories/{owner}/{repository}',
  '/redeliveries',
  '/deliveries/{delivery}',
  '/trace/entity/{entity}',
  '/trace/installation/{installation}',
  '/trace/job/{job}',
  '/trace/payload/{event}',
  '/find',
  '/doctor',
  '/sweeps',
  '/switches',
  '/actions',
  '/tokens',
] as const;

export type Path = (typeof PATHS)[number];

/** Undefined: the page has nothing there. */
export function findPath(
  pathname: string,
): { path: Path; fields: Readonly<Record<string, string>> } | undefined {
  const given = pathname.split('/');
  for (const path of PATHS) {
    const fields = fieldsOf(path.split('/'), given);
    if (fields !== undefined) return { path, fields };
  }
  return undefined;
}

function fieldsOf(path: readonly string[], given: readonly string[]) {
  if (path.length !== given.length) return undefined;
  const fields: Record<string, string> = {};
  for (const [index, word] of path.entries()) {
    const value = given[index] ?? '';
    if (word.startsWith('{') && value !== '') fields[word.slice(1, -1)] = decoded(value);
    else if (word !== value) return undefined;
  }
  return fields;
}

/** A `%` that begins no code stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A path with its values encoded: at`/jobs/${id}`. */
export const at = (words: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  String.raw({ raw: words }, ...values.map(encoded));

/** The address of a view that ends so is its answer’s, and a repository’s name may end so. */
const encoded = (value: string | number): string =>
  encodeURIComponent(value).replace(/\.(?=(json|csv)$)/, '%2E');

/** What has a place of its own on the page. */
export interface Thing {
  readonly kind: Item<'find'>['kind'];
  readonly id: string | number;
  /** A repository's; of a run, the login of its owner. */
  readonly name?: string | null;
}

export function placeOf({ kind, id, name }: Thing): string {
  switch (kind) {
    case 'run':
      return at`/runs/${id}?owner=${name ?? ''}`;
    case 'repository':
      return repositoryPlace(String(name ?? id));
    case 'entity':
      return at`/trace/entity/${id}`;
    case 'event':
      return at`/trace/payload/${id}`;
    case 'delivery':
      return at`/deliveries/${id}`;
    case 'node':
      return at`/workers?node=${id}`;
    case 'job':
    case 'worker':
    case 'operation':
    case 'pool':
    case 'installation':
      return at`/${kind}s/${id}`;
    default:
      return kind satisfies never;
  }
}

/** By its full name; one of which only the id is known has nothing but jobs. */
function repositoryPlace(named: string): string {
  const [owner = '', name] = named.split('/');
  return name === undefined ? at`/jobs?repository=${named}` : at`/repositories/${owner}/${name}`;
}

/** What a view gets from the address. */
export interface ViewProps {
  /** As `job` of `/jobs/{job}`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}
