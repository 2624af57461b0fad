import { expect, test } from '@jest/globals';
import { settings as consoleSettings } from '@paddock/console/settings';
import {
  diagnoseTask,
  provisionTask,
  removeSecretTask,
  stopTask,
} from '@paddock/domain/tasks/worker-tasks';
import { lookUpJobsTask, SCHEDULED_SWEEPS, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { settings as ingress } from '@paddock/ingress/settings';
import { DEFAULT_MAX_ATTEMPTS, type NewTask } from '@paddock/queue/enqueue';
import { settings as reconciler } from '@paddock/reconciler/settings';
import { cadenceRules, sweepSchedules } from '@paddock/queue/sweep-schedules';
import { sweepKinds } from '@paddock/reconciler/sweeps';
import { valuesOf } from '@paddock/runtime/rules';
import type { Setting } from '@paddock/runtime/settings';
import { settings as scheduler } from '@paddock/scheduler/settings';
import { schedulerKinds } from '@paddock/scheduler/kinds';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, sep } from 'node:path';
import { overruns } from '../../tools/budget/count.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });

const fileNames = new Set(
  globSync('{apps,packages}/*/src/**/*.{ts,tsx}', { cwd: ROOT }).map((file) => basename(file)),
);

/**
 * A file is named from the root, by its app or package without `src`, as
 * `db/connection/connect.ts`, or where several folders have one, without any.
 */
function isThere(file: string): boolean {
  const [first = '', ...rest] = file.split('/');
  if (rest.length === 0) return fileNames.has(file);
  return ['', join('apps', first, 'src'), join('packages', first, 'src')].some((folder) =>
    existsSync(join(ROOT, folder, folder === '' ? file : rest.join('/'))),
  );
}

const captures = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, captured = '']) => captured);

test.each(pages)('%s names and links only files that are there', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const files = captures(
    text,
    /`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs|cjs|sql|yaml|json)|[\w.-]+\.tsx?)`/g,
  );
  const links = captures(text, /\]\(([^)#\s:]+)(?:#[^)]*)?\)/g);
  expect(files.filter((file) => !isThere(file))).toEqual([]);
  expect(links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
});

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

test.each(pages)('%s links only headings that are there, and is not long (H6)', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const dead = [...text.matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)].filter(
    ([, link = '', anchor]) => {
      const file = link === '' ? page : join(dirname(page), link);
      const headings = captures(readFileSync(join(ROOT, file), 'utf8'), /^#+ (.+)$/gm);
      return !headings.map(anchorOf).includes(anchor ?? '');
    },
  );
  expect(dead.map(([link]) => link)).toEqual([]);
  const most = /^docs\/(adr|metrics|settings)\b/.test(page) ? Infinity : 200;
  expect([page, text.split('\n').length - 1 <= most]).toEqual([page, true]);
});

/**
 * The folder of a subject that a file of product code is in, as `packages/db/src/jobs`; undefined
 * for files beside those folders.
 */
function folderOf(file: string): string | undefined {
  const [kind, name, src, folder, ...rest] = file.split(sep);
  return src === 'src' && folder !== 'scenes' && rest.length > 0
    ? [kind, name, src, folder].join('/')
    : undefined;
}

/** Each folder, with those beside it that its files import from. */
function importsOfFolders(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of globSync('{apps,packages}/*/src/**/*.ts', { cwd: ROOT })) {
    const from = folderOf(file);
    if (from === undefined || /\.(test|contract)\.ts$/.test(file)) continue;
    for (const [, imported = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(
      / from '(\.\.\/[^']+)'/g,
    )) {
      const to = folderOf(normalize(join(dirname(file), imported)));
      if (to !== undefined && to !== from) found.set(from, (found.get(from) ?? new Set()).add(to));
    }
  }
  return found;
}

test('the folders of subjects import each other one way', () => {
  const imports = importsOfFolders();
  expect(imports.size).toBeGreaterThan(10);
  // Without a circle, there always is a folder that imports from none that is left.
  for (let before = -1; before !== imports.size;) {
    before = imports.size;
    for (const [folder, of] of imports)
      if (![...of].some((other) => imports.has(other))) imports.delete(folder);
  }
  expect([...imports]).toEqual([]);
});

const BUDGET = {
  tests: { most: 100, folders: { 'apps/cli': 60, 'packages/db': 40 } },
  tables: { most: 25 },
};

test('what is above its bound is named, with the folders that grew', () => {
  const counts = {
    tests: { total: 108, folders: { 'apps/cli': 50, 'packages/db': 45, 'packages/new': 13 } },
    tables: { total: 25 },
    kinds: { total: 1 },
  };
  expect(overruns(BUDGET, counts)).toEqual([
    'tests: 108, but at most 100 are allowed. Grown: packages/new 0 → 13, packages/db 40 → 45.',
    'budget.json has no bound for kinds.',
  ]);
});

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name = '']) => name);

const names = namesIn(readFileSync(join(ROOT, 'docs/settings.md'), 'utf8'));
const byName = Map.groupBy(
  [ingress, scheduler, reconciler, consoleSettings].flatMap((declared) =>
    Object.entries<Setting<unknown>>(declared),
  ),
  ([, { env }]) => env,
);

/** One machine may run all services. */
const PORTS = new Set(['PADDOCK_PUBLIC_PORT', 'PADDOCK_HEALTH_PORT']);

/** Each service's description of a setting; `schema` allows what `range` says. */
const meanings = (settings: readonly (readonly [string, Setting<unknown>])[]): Set<string> =>
  new Set(
    settings.map((said) =>
      JSON.stringify(said, (key, value: unknown) =>
        key === 'schema' || (key === 'default' && PORTS.has(said[1].env)) ? undefined : value,
      ),
    ),
  );

test('the table holds at most 28 settings, and each has one row (H6)', () => {
  expect(names.length).toBeLessThanOrEqual(28);
  expect(names).toEqual(expect.arrayContaining(['DATABASE_URL', 'PADDOCK_CONFIG']));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect([...byName.keys()].filter((name) => !names.includes(name))).toEqual([]);
});

test('a setting has one meaning and one range in all services, and one default but for ports (H6)', () => {
  expect(
    [...byName].filter(([, settings]) => meanings(settings).size > 1).map(([name]) => name),
  ).toEqual([]);
  expect([...byName.values()].filter((settings) => settings.length > 1).length).toBeGreaterThan(10);
});

const CADENCES = valuesOf(cadenceRules);

interface KindRow {
  kind: string;
  service: string;
  slots: number;
}

/** The rows of ARCHITECTURE.md's table of kinds. */
function documentedKinds(): (KindRow & { attempts: number })[] {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const rows = text.matchAll(
    /^\| `([a-z-]+)` +\| (scheduler|reconciler) .* (\d+) +\| (\d+) +\|$/gm,
  );
  return [...rows].map(([, kind = '', service = '', slots, attempts]) => ({
    kind,
    service,
    slots: Number(slots),
    attempts: Number(attempts),
  }));
}

/** The kinds of both services. Their handlers' dependencies are only used when they run. */
function registeredKinds(): KindRow[] {
  return Object.entries({
    scheduler: schedulerKinds({} as never),
    reconciler: sweepKinds({ config: {}, github: {} } as never),
  }).flatMap(([service, kinds]) =>
    Object.entries(kinds).map(([kind, { slots }]) => ({ kind, service, slots })),
  );
}

test('the table of kinds in ARCHITECTURE.md names every registered kind, its service and its slots (D12)', () => {
  const registered = registeredKinds().map((kind) => expect.objectContaining(kind));
  expect(documentedKinds()).toHaveLength(registered.length);
  expect(documentedKinds()).toEqual(expect.arrayContaining(registered));
});

test('people pause each sweep by the kind of its task (F5)', () => {
  const sweeps = registeredKinds().filter(({ service }) => service === 'reconciler');
  expect(sweeps.map(({ kind }) => kind).toSorted()).toEqual(SWEEPS.toSorted());
  const schedules = sweepSchedules(CADENCES, []);
  expect(schedules.map(({ name }) => name)).toEqual([...SCHEDULED_SWEEPS]);
});

test('the table says how often each task is tried, for every enqueuer (D4, D12)', () => {
  const made: NewTask[] = [
    ...[provisionTask, stopTask].map((task) => task({ podName: 'a', deliveryGuid: null })),
    ...[diagnoseTask, removeSecretTask].map((task) => task('a')),
    ...sweepSchedules(CADENCES, [1]).map(({ task }) => task),
    lookUpJobsTask,
  ];
  const documented = new Map(documentedKinds().map(({ kind, attempts }) => [kind, attempts]));
  expect(made.map(({ kind, maxAttempts = DEFAULT_MAX_ATTEMPTS }) => [kind, maxAttempts])).toEqual(
    made.map(({ kind }) => [kind, documented.get(kind)]),
  );
  expect([...documented.keys()].filter((kind) => made.every((task) => task.kind !== kind))).toEqual(
    [],
  );
});

test('two replicas of each service and a migration hold 60 connections, as docs/network.md counts them (A11)', () => {
  const network = readFileSync(join(ROOT, 'docs', 'network.md'), 'utf8');
  const rows = [...network.matchAll(/^\| `(\w+)` +\| (\d+)[^|]*\|([^|]*)\| (\d+) +\|$/gm)];
  expect(Object.fromEntries(rows.map(([, process, pool]) => [process, Number(pool)]))).toEqual({
    ingress: ingress.poolSize.default,
    scheduler: scheduler.poolSize.default,
    reconciler: reconciler.poolSize.default,
    console: consoleSettings.poolSize.default,
    migrate: 2,
  });
  const sums = rows.map(([, , pool, beside = '']) =>
    captures(beside, /(\d+)/g).reduce((sum, count) => sum + Number(count), Number(pool)),
  );
  expect(rows.map((row) => Number(row[4]))).toEqual(sums);
  const [migration = 0, ...services] = sums.toReversed();
  expect(services.reduce((sum, held) => sum + 2 * held, migration)).toBeLessThanOrEqual(60);
});
