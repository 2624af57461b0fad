import { describe, expect, test } from '@jest/globals';
import { useFolder } from '@paddock/testing/use-folder';
import { onPath } from '@paddock/testing/render-chart';
import { execFile, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = '.github/workflows';
const FOLDERS = useFolder();

interface Step {
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly 'runs-on'?: string;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly uses?: string;
  readonly steps?: readonly Step[];
}
interface Workflow {
  readonly defaults?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const files = globSync(`${FOLDER}/*.{yml,yaml}`, { cwd: ROOT });
const workflows = new Map(files.map((file) => [file, parse(read(file)) as Workflow]));
const jobsOf = (file: string) => Object.entries(workflows.get(file)?.jobs ?? {});
const stepsOf = (file: string): Step[] => jobsOf(file).flatMap(([, { steps = [] }]) => steps);
const matrixOf = (job: string): Readonly<Record<string, readonly string[]>> =>
  workflows.get(`${FOLDER}/ci.yml`)?.jobs[job]?.strategy?.matrix ?? {};

describe.each(files)('%s', (file) => {
  test('ends each job that hangs, on a named release of the machine', () => {
    for (const [name, job] of jobsOf(file)) {
      if (job.uses !== undefined) continue;
      expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)]);
      expect([name, job['runs-on']]).toEqual([name, 'ubuntu-24.04']);
    }
  });

  test('ends a step with the first part of a pipe that fails', () => {
    expect(workflows.get(file)?.defaults).toEqual({ run: { shell: 'bash' } });
  });

  test('names only files and folders that are there', () => {
    const scripts = stepsOf(file).flatMap(({ run = '' }) =>
      run.match(/(?<![\w./-])(?:\.ci|apps|db|deploy|packages|test|tools)\/[\w./-]*\w/g),
    );
    const inputs = stepsOf(file).flatMap(({ with: values }) => values?.['file'] ?? []);
    const called = jobsOf(file).flatMap(([, { uses }]) => uses ?? []);
    const paths = [...scripts, ...inputs, ...called]
      .filter((path) => typeof path === 'string')
      // An image has what is built of it, and a chart what is generated.
      .map((path) => path.replace(/^(apps\/\w+)\/dist\/main\.mjs$/, '$1/src/main.ts'))
      .filter((path) => path !== 'deploy/helm/paddock/values.schema.json');
    expect(paths).not.toEqual([]);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

test('the tests run on the oldest Node.js that package.json allows', () => {
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
  expect(matrixOf('node')['node']).toContain(engines.node.replace('>=', ''));
});

test('the tests run on four lines of PostgreSQL', () => {
  expect(matrixOf('postgresql')['postgresql']).toEqual(['15', '16', '17', '18']);
});

test('Renovate finds what each of its own patterns is for', () => {
  const { customManagers } = JSON.parse(read('.github/renovate.json')) as {
    customManagers: { managerFilePatterns: string[]; matchStrings: string[] }[];
  };
  const all = globSync(['.ci/*', '.github/**/*.yml', 'deploy/**/*', 'docs/*.md'], {
    cwd: ROOT,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  for (const { managerFilePatterns, matchStrings } of customManagers)
    for (const pattern of managerFilePatterns) {
      const mine = all.filter((file) => new RegExp(pattern.slice(1, -1)).test(file));
      const found = mine.filter((file) =>
        matchStrings.some((one) => new RegExp(one).test(read(file))),
      );
      expect([pattern, found]).not.toEqual([pattern, []]);
    }
});

const DIGEST = `sha256:${'a'.repeat(64)}`;

/** Puts a builder first on the path that records its calls, and whose push ends with this code. */
function playBuilder(folder: string, builder: string, push: number): NodeJS.ProcessEnv {
  const told = {
    docker: `echo 'latest: digest: ${DIGEST} size: 1'`,
    buildah: `echo ${DIGEST} > "$3"`,
  }[builder];
  const play = (name: string, script: string) =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  play('docker', 'exit 1'); // As without a daemon.
  play(
    builder,
    `echo "$BUILDAH_LAYERS $@" >> ${folder}/calls\n[ "$1" != push ] || { ${told}; exit ${push}; }`,
  );
  return { ...process.env, PATH: `${folder}:${process.env['PATH']}`, BASE: 'base.test/node:1' };
}

test.each([
  ['docker', 0, ''],
  ['docker', 1, ''],
  ['buildah', 0, 'true'],
])('deploy/images, when a push by %s ends with %i', (builder, push, layers) => {
  const folder = mkdtempSync(join(FOLDERS, 'builder-'));
  const { status, stdout } = spawnSync(join(ROOT, 'deploy/images'), ['registry.test/paddock'], {
    env: playBuilder(folder, builder, push),
    encoding: 'utf8',
  });
  const calls = readFileSync(join(folder, 'calls'), 'utf8').split('\n');
  expect(calls.find((call) => call.startsWith(`${layers} build`))).toMatch(
    /--build-arg BASE=base\.test\/node:1 --target ingress --tag \S+\/ingress:/,
  );
  expect(status).toBe(push);
  if (push !== 0) return;
  const services = ['ingress', 'scheduler', 'reconciler', 'console', 'migrate'];
  const named = Object.fromEntries(services.map((service) => [service, { digest: DIGEST }]));
  expect(parse(stdout)).toEqual({ image: { registry: 'registry.test/paddock', ...named } });
  expect(calls.filter((call) => / push /.test(call))).toHaveLength(services.length + 1);
});

test('an image is released for each service', () => {
  const { matrix } = workflows.get(`${FOLDER}/release.yml`)?.jobs['images']?.strategy ?? {};
  const targets = [...read('deploy/docker/Dockerfile').matchAll(/^FROM service AS (\S+)$/gm)];
  expect(matrix?.['service']).toEqual(targets.map(([, target]) => target));
});

const steps = files.flatMap((file) =>
  jobsOf(file).flatMap(([job, { steps: all = [] }]) =>
    all.flatMap(({ run }, nth) =>
      // As `shell: bash` runs each step.
      run === undefined
        ? []
        : [{ name: `${file} ${job}[${nth}]`, input: `#!/bin/bash\nset -eo pipefail\n${run}` }],
    ),
  ),
);
const shellcheck = onPath('shellcheck');
(shellcheck === undefined ? describe.skip : describe)('shellcheck (needs shellcheck)', () => {
  test.each(steps)('finds nothing in the step $name', ({ input }) => {
    const given = { cwd: ROOT, encoding: 'utf8', input } as const;
    const { status, stdout } = spawnSync(String(shellcheck), ['--norc', '-'], given);
    expect([stdout, status]).toEqual(['', 0]);
  });
});

const APPS = ['ingress', 'scheduler', 'reconciler', 'console', 'migrate', 'cli'] as const;

interface Stage {
  /** An image, or the name of an earlier stage. */
  readonly base: string;
  readonly name: string;
  /** Each with its keyword first, without line breaks. */
  readonly instructions: readonly string[];
}

/** The stages of a Dockerfile, in order. What stands before the first one is left out. */
function stagesOf(dockerfile: string): Stage[] {
  const [, ...parts] = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split(/^FROM /m);
  return parts.map((part) => {
    const [from = '', ...instructions] = part.split('\n').filter((line) => line !== '');
    const [, base = '', name = ''] = /^(?:--platform=\S+ )?(\S+) AS (\S+)$/.exec(from) ?? [];
    return { base, name, instructions };
  });
}

const stages = stagesOf(read('deploy/docker/Dockerfile'));
const stageOf = (name: string) => stages.find((stage) => stage.name === name);

/** A target's instructions after those of the stages that it starts from. */
function instructionsOf(target: string): string[] {
  const stage = stageOf(target);
  return stage === undefined ? [] : [...instructionsOf(stage.base), ...stage.instructions];
}

/** The arguments of all instructions of a kind, such as COPY. */
const all = (keyword: string, instructions: readonly string[]): string[] =>
  instructions.flatMap((line) =>
    line.startsWith(`${keyword} `) ? [line.slice(keyword.length + 1)] : [],
  );

const TERMINAL = ' /src/apps/cli/dist/main.mjs apps/cli/dist/main.mjs';

describe('the images', () => {
  test('start from images by digest', () => {
    const bases = stages.map(({ base }) => base).filter((base) => stageOf(base) === undefined);
    expect(bases).toEqual(['${BUILDER}', '${BASE}']);
    for (const base of bases)
      expect(read('deploy/docker/Dockerfile')).toMatch(
        new RegExp(`^ARG ${base.slice(2, -1)}=\\S+:\\S+@sha256:[0-9a-f]{64}$`, 'm'),
      );
  });

  test.each(APPS)('that of %s runs its own program, not as root, and has no other files', (app) => {
    const target = app === 'cli' ? 'paddock' : app;
    const instructions = instructionsOf(target);
    expect(all('USER', instructions)).toEqual(['65532:65532']);
    const program = `/paddock/apps/${app}/dist/main.mjs`;
    expect(all('ENTRYPOINT', instructions).map((words) => JSON.parse(words) as unknown)).toEqual([
      ['node', '--enable-source-maps', program],
    ]);
    const others: Readonly<Record<string, string>> = {
      migrate: ' /src/db db',
      // For the first token, and for the doctor.
      console: TERMINAL,
      scheduler: TERMINAL,
    };
    const bundle = ` /src/apps/${app}/dist apps/${app}/dist`;
    const copied = [bundle, others[app]].flatMap((words) => words ?? []);
    expect(all('COPY', instructions)).toEqual(copied.map((words) => `--from=build${words}`));
    expect(all('WORKDIR', instructions)).toEqual(['/paddock']);
    // A command would be emulated on the other architecture.
    expect(all('RUN', instructions)).toEqual([]);
    const labels = all('LABEL', instructions).join(' ');
    for (const label of ['source', 'revision', 'version', 'licenses'])
      expect(labels).toContain(`org.opencontainers.image.${label}="\${${label.toUpperCase()}}"`);
    expect(labels).toMatch(new RegExp(`image\\.title="(paddock-)?${target}"`));
  });

  test('get only bundles that the build stage makes', () => {
    const [run = ''] = all('RUN', stageOf('build')?.instructions ?? []);
    expect(run).toContain(`build ${APPS.join(' ')}`);
  });

  test('have `node` as a command, as the test of the chart runs it', () => {
    expect(all('ENV', instructionsOf('ingress')).join(' ')).toContain('PATH=/nodejs/bin:$PATH');
  });
});

/** The smallest program. All are built alike. */
const APP = 'migrate';
const BUNDLE = `apps/${APP}/dist/main.mjs`;

/** Builds the app in a folder, and returns the bundle and its source map. */
function build(folder: string): [bundle: string, map: string] {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'tools/build.mjs'), APP], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');
  return [textOf(BUNDLE), textOf(`${BUNDLE}.map`)];
}

/** The folders of the packages whose files a source map names, from the root of the checkout. */
function packagesIn(map: string): Set<string> {
  const { sources } = JSON.parse(map) as { sources: string[] };
  return new Set(
    sources.map((source) => {
      const parts = join(dirname(BUNDLE), source).split('/');
      return parts.slice(0, parts[0] === 'node_modules' ? 3 : 2).join('/');
    }),
  );
}

test('a build in another folder, at another time, gives the same bytes', () => {
  const [bundle, map] = build(ROOT);
  const copy = join(FOLDERS, 'copy');
  for (const path of ['package.json', 'tsconfig.base.json', ...packagesIn(map)])
    cpSync(join(ROOT, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  rmSync(join(copy, dirname(BUNDLE)), { recursive: true });
  const again = build(copy);
  // Not `toEqual`: the difference of two megabytes would be printed.
  expect([again[0] === bundle, again[1] === map]).toEqual([true, true]);
  expect(bundle.length).toBeGreaterThan(100_000);
  expect(bundle).not.toContain(ROOT);
});

const TOOL = join(ROOT, 'tools', 'bundle.mjs');
const BUILD = `import(${JSON.stringify(TOOL)}).then((tool) => tool.buildPage(process.argv[1]))`;

const KB = 1_024;

test('the page travels as at most 60 KB, with charts 100 KB, and takes no text for markup', async () => {
  const folder = join(FOLDERS, 'page');
  // A process of its own: the bundler is no part of this one.
  await promisify(execFile)(process.execPath, ['-e', BUILD, folder]);
  const built = await readFile(join(folder, 'page.json'), 'utf8');
  const { html, files: assets } = JSON.parse(built) as {
    html: string;
    files: Record<string, { text: string }>;
  };
  const parts: [name: string, text: string][] = [
    ['page.html', html],
    ...Object.entries(assets).map(([name, { text }]): [string, string] => [name, text]),
  ];
  const sizeOf = (of: typeof parts) =>
    of.reduce((sum, [, text]) => sum + gzipSync(text).length / KB, 0);
  const first = sizeOf(parts.filter(([name]) => !name.startsWith('draw-chart-')));
  const whole = sizeOf(parts);
  process.stdout.write(
    `the page by gzip: ${first.toFixed(1)} KB, with charts ${whole.toFixed(1)} KB\n`,
  );
  expect(first).toBeGreaterThan(8);
  expect(first).toBeLessThanOrEqual(60);
  expect(whole).toBeGreaterThan(first);
  expect(whole).toBeLessThanOrEqual(100);
  expect(parts.map(([, text]) => text).join('')).not.toMatch(
    /\beval\(|new Function|insertAdjacentHTML|document\.write/,
  );
});
