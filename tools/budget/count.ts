import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { ENDPOINTS } from '@paddock/api/endpoints';
import type { Count, Counts } from './compare.ts';

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
