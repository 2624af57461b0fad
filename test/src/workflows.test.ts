import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { onPath } from '@paddock/testing/render-chart';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = '.github/workflows';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: unknown;
  readonly 'runs-on'?: string;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly uses?: string;
  readonly steps?: readonly Step[];
}
interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const files = globSync(`${FOLDER}/*.{yml,yaml}`, { cwd: ROOT });
const workflows = new Map(files.map((file) => [file, parse(read(file)) as Workflow]));
const jobsOf = (file: string): [name: string, job: Job][] =>
  Object.entries(workflows.get(file)?.jobs ?? {});
const stepsOf = (file: string): Step[] => jobsOf(file).flatMap(([, { steps = [] }]) => steps);
const matrixOf = (job: string): Readonly<Record<string, readonly string[]>> =>
  workflows.get(`${FOLDER}/ci.yml`)?.jobs[job]?.strategy?.matrix ?? {};

test('there are workflows', () => {
  expect(files.map((file) => file.slice(FOLDER.length + 1)).toSorted()).toEqual([
    'ci.yml',
    'kind.yml',
    'release.yml',
  ]);
});

describe.each(files)('%s', (file) => {
  test('names each action by a commit, with its version in a comment', () => {
    const uses = read(file).matchAll(/^ *(?:- )?uses: (.*)$/gm);
    const actions = [...uses].flatMap(([, use = '']) => (use.startsWith('./') ? [] : [use]));
    for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    // The text and what is parsed of it are the same steps.
    expect(actions).toHaveLength(stepsOf(file).filter(({ uses: use }) => use !== undefined).length);
  });

  test('gives no right that a job does not ask for', () => {
    expect(workflows.get(file)?.permissions).toEqual({});
    for (const [name, { permissions }] of jobsOf(file))
      expect([name, permissions]).toEqual([name, expect.any(Object)]);
  });

  test('puts nothing foreign into a script, and leaves no token in a checkout', () => {
    // An expression becomes part of the script: values come by `env` instead.
    for (const { run = '' } of stepsOf(file)) expect(run).not.toContain('${{');
    const checkouts = stepsOf(file).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const { with: inputs } of checkouts)
      expect(inputs).toEqual({ 'persist-credentials': false });
    expect(read(file)).not.toMatch(/pull_request_target|workflow_run|secrets\./);
  });

  test('ends each job that hangs, on a named release of the machine', () => {
    for (const [name, job] of jobsOf(file)) {
      if (job.uses !== undefined) continue;
      expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)]);
      expect([name, job['runs-on']]).toEqual([name, 'ubuntu-24.04']);
    }
  });

  test('names only files and folders that are there', () => {
    const scripts = stepsOf(file).flatMap(({ run = '' }) =>
      run.match(/(?<![\w./-])(?:\.ci|apps|db|deploy|packages|test|tools)\/[\w./-]*\w/g),
    );
    const inputs = stepsOf(file).flatMap(({ with: values }) => values?.['file'] ?? []);
    const called = jobsOf(file).flatMap(([, { uses }]) => uses ?? []);
    const paths = [...scripts, ...inputs, ...called]
      .filter((path) => typeof path === 'string')
      // An image has what is built of it.
      .map((path) => path.replace(/^(apps\/\w+)\/dist\/main\.mjs$/, '$1/src/main.ts'));
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

test('an image is released for each service', () => {
  const { matrix } = workflows.get(`${FOLDER}/release.yml`)?.jobs['images']?.strategy ?? {};
  const targets = [...read('deploy/docker/Dockerfile').matchAll(/^FROM service AS (\S+)$/gm)];
  expect(matrix?.['service']).toEqual(targets.map(([, target]) => target));
});

// GitHub's machines run each step as `bash -e`.
const scripts: [name: string, script: string][] = [
  ...globSync(['.ci/*', 'deploy/helm/check'], { cwd: ROOT }).map((path): [string, string] => [
    path,
    read(path),
  ]),
  ...files.flatMap((file) =>
    jobsOf(file).flatMap(([job, { steps = [] }]) =>
      steps.flatMap(({ run }, nth): [string, string][] =>
        run === undefined ? [] : [[`${file} ${job}[${nth}]`, `#!/bin/bash\nset -e\n${run}`]],
      ),
    ),
  ),
];

const shellcheck = onPath('shellcheck');
const checked = shellcheck === undefined ? describe.skip : describe;
checked('shellcheck (needs shellcheck)', () => {
  test.each(scripts)('finds nothing in %s', (_name, input) => {
    const { status, stdout } = spawnSync(String(shellcheck), ['--norc', '-'], {
      cwd: ROOT,
      encoding: 'utf8',
      input,
    });
    expect([stdout, status]).toEqual(['', 0]);
  });
});

for (const [program, flags] of [
  ['actionlint', []],
  ['zizmor', ['--offline', '--persona=auditor', '--quiet']],
] as const) {
  const linted = onPath(program) === undefined ? describe.skip : describe;
  linted(`${program} (needs ${program})`, () => {
    test('finds nothing in the workflows', () => {
      const args = [...flags, ...files];
      const { status, stdout } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
      expect([stdout.trim(), status]).toEqual([expect.any(String), 0]);
    });
  });
}
