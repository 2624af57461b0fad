import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { ENDPOINTS } from '@paddock/api/endpoints';

const CODE = /\.(ts|tsx|mjs|cjs|css|html|diff)$/;
const TEST = /\.(test|scene|contract)\.|\/scenes\/|^packages\/testing\/|^test\//;
const SIMULATORS = /^(apps\/demo|packages\/(simulators|embedded-postgres|processes))\//;
const GENERATED =
  /^(db\/schema\.sql|docs\/((settings|metrics)\.md|.*\.json)|deploy\/helm\/(golden\/.*|paddock\/.*\.json))$/;

/** Which lines of `budget.json` a file belongs to; undefined for configuration and prose. */
function kindOf(file: string): string | undefined {
  if (GENERATED.test(file)) return 'generated';
  if (!CODE.test(file)) return undefined;
  if (TEST.test(file)) return 'tests';
  if (SIMULATORS.test(file)) return 'simulators';
  if (/^(apps|packages)\//.test(file)) return 'services';
  return file.startsWith('bench/') ? 'bench' : 'tools';
}

const folderOf = (file: string): string =>
  /^((apps|packages)\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? 'root';

/** Counts lines with comments and blanks, and files that are not ignored by git. */
export function countAll(): Counts {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(file));
  const lines = files.flatMap((file) => {
    const kind = kindOf(file);
    return kind === undefined
      ? []
      : [{ kind, folder: folderOf(file), size: read(file).split('\n').length - 1 }];
  });
  return {
    ...Object.fromEntries(
      Map.groupBy(lines, ({ kind }) => kind)
        .entries()
        .map(([kind, parts]) => [kind, sum(parts)]),
    ),
    files: sum(files.map((file) => ({ folder: folderOf(file), size: 1 }))),
    // A test holds each page against the code.
    settings: names('docs/settings.md', /^\| `([A-Z_]+)`/gm),
    kinds: names('ARCHITECTURE.md', /^\| `([a-z-]+)` +\| (?:scheduler|reconciler)/gm),
    tables: names('db/schema.sql', /^create table (\w+)/gm),
    metrics: names('docs/metrics.md', /^\| `(paddock_\w+)`/gm),
    endpoints: { total: ENDPOINTS.length },
    // Those that Kysely's builder would not say as well.
    rawStatements: {
      total: files
        .filter((file) => kindOf(file) === 'services')
        .flatMap((file) => read(file).match(/`\s*\.execute\(|rows?Of<[^`]+`/gi) ?? []).length,
    },
  };
}

function sum(parts: readonly { readonly folder: string; readonly size: number }[]): Count {
  const folders: Record<string, number> = {};
  for (const { folder, size } of parts) folders[folder] = (folders[folder] ?? 0) + size;
  return {
    total: parts.reduce((total, { size }) => total + size, 0),
    folders: Object.fromEntries(Object.entries(folders).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const names = (file: string, row: RegExp): Count => ({
  total: new Set([...read(file).matchAll(row)].map(([, name]) => name)).size,
});

const read = (file: string): string => readFileSync(file, 'utf8');

/** A bound of `budget.json`: lines or files, or of a concept how many there are. */
export interface Bound {
  readonly most: number;
  /** What each folder had when they were last counted. */
  readonly folders?: Readonly<Record<string, number>>;
}
export type Budget = Readonly<Record<string, Bound>>;

/** A count of today. Concepts have no folders. */
export interface Count {
  readonly total: number;
  readonly folders?: Readonly<Record<string, number>>;
}
export type Counts = Readonly<Record<string, Count>>;

/** A sentence for each count above its bound, with the folders that grew. */
export function overruns(budget: Budget, counts: Counts): string[] {
  return Object.entries(counts).flatMap(([name, { total, folders = {} }]) => {
    const bound = budget[name];
    if (bound === undefined) return [`budget.json has no bound for ${name}.`];
    if (total <= bound.most) return [];
    const grown = Object.entries(folders)
      .map(([folder, now]) => ({ folder, now, before: bound.folders?.[folder] ?? 0 }))
      .filter(({ now, before }) => now > before)
      .toSorted((a, b) => b.now - b.before - (a.now - a.before))
      .map(({ folder, now, before }) => `${folder} ${before} → ${now}`);
    const list = grown.length > 0 ? ` Grown: ${grown.join(', ')}.` : '';
    return [`${name}: ${total}, but at most ${bound.most} are allowed.${list}`];
  });
}

/** The budget with today's counts of folders. */
export const recounted = (budget: Budget, counts: Counts): Budget =>
  Object.fromEntries(
    Object.entries(budget).map(([name, { most }]) => {
      const folders = counts[name]?.folders;
      return [name, { most, ...(folders && { folders }) }];
    }),
  );
