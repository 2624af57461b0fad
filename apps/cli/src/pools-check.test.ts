import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { useFolder } from '@paddock/testing/use-folder';
import { parse, parseAllDocuments } from 'yaml';
import type { CommandResult } from './command.ts';
import { runCommand } from './run-command.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const EXAMPLE = join(import.meta.dirname, '../../../deploy/paddock.example.yaml');
const PAGE = join(import.meta.dirname, '../../../docs/pools.md');
const folder = useFolder();

const paddock = (...words: string[]): Promise<CommandResult> => runCommand(words, {});

function fileWith(text: string): string {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  return file;
}

/** What is said before the pods, which is a comment there. */
const remarksIn = (stdout: string): string[] =>
  (stdout.split('\n# A pod of ')[0] ?? '').split('\n').map((line) => line.replace(/^# /, ''));

const ofRepository = (pools: string) =>
  `One repository can take all that its organisation may have of ${pools}: registration: repository, or a pool for each team, keeps repositories apart.`;

describe('paddock pools check', () => {
  test('accepts the example in deploy/, and names its label sets that fit several pools (B4)', async () => {
    const { code, stderr, stdout } = await paddock('pools', 'check', EXAMPLE);
    expect([code, stderr, remarksIn(stdout)]).toEqual([
      0,
      '',
      [
        `${EXAMPLE} can be used; it has 3 pools.`,
        ofRepository('linux-x64, docker, gpu'),
        'Jobs with the labels linux, self-hosted, x64 go to linux-x64; they fit docker too.',
        'Jobs with the labels linux, self-hosted go to linux-x64; they fit gpu, docker too.',
      ],
    ]);
    const pods = parseAllDocuments(stdout).map((document) => document.toJS() as object);
    expect(pods).toMatchObject(
      ['linux-x64', 'docker', 'gpu'].map((pool) => ({
        kind: 'Pod',
        metadata: { labels: { 'paddock.dev/pool': pool } },
      })),
    );
  });

  test('the pod of a label set is shown as YAML, with what the services add (H3)', async () => {
    const { code, stdout } = await paddock('pools', 'check', EXAMPLE, '--labels', 'GPU, linux');
    expect(code).toBe(0);
    expect(stdout).toContain(
      '# A job with the labels GPU, linux goes to gpu, in a pod like this:\n',
    );
    expect(parse(stdout)).toMatchObject({
      kind: 'Pod',
      metadata: { namespace: 'runners', labels: { team: 'research', 'paddock.dev/pool': 'gpu' } },
      spec: {
        restartPolicy: 'Never',
        nodeSelector: { accelerator: 'nvidia-l4' },
        containers: [
          {
            name: 'runner',
            image: 'registry.example.com/runner-cuda:12',
            resources: { limits: { 'nvidia.com/gpu': 1 } },
          },
        ],
      },
    });
  });

  test('a pool that serves not all is the first way of a job, not the only one', async () => {
    const pools = [
      'c, labels: [x, y]',
      'a, labels: [x, y], entities: [globex]',
      'd, labels: [x, y, z]',
    ];
    const file = fileWith(
      `github: { apps: [{ id: 1 }] }\nentities: { acme: {}, globex: {} }\npools:\n${pools.map((pool) => `  - { image: i, namespace: n, name: ${pool} }\n`).join('')}`,
    );
    const { stdout } = await paddock('pools', 'check', file, '--labels', 'x');
    expect(remarksIn(stdout)).toContain(
      'Jobs with the labels x, y go to a if it serves their repository, else to c; they fit d too.',
    );
    expect(stdout.split('\n').filter((line) => /in a pod like this|A pod of/.test(line))).toEqual([
      '# A job with the labels x goes to a if it serves its repository, else to c, in a pod like this:',
      '# A pod of c:',
    ]);
  });

  test('the pools of docs/pools.md can be used, and their pods have what they say (H3)', async () => {
    const [, pools = ''] = /```yaml\n(x-[^]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const file = fileWith(`github: { apps: [{ id: 1 }] }\nentities: { acme: {} }\n${pools}`);
    expect(remarksIn((await paddock('pools', 'check', file)).stdout)).toEqual([
      `${file} can be used; it has 2 pools.`,
      ofRepository('gpu, spot'),
    ]);
    const podFor = async (labels: string) =>
      parse((await paddock('pools', 'check', file, '--labels', labels)).stdout) as object;
    expect(await podFor('gpu')).toMatchObject({
      spec: {
        nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-L4' },
        tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
        containers: [
          { name: 'runner', resources: { requests: { cpu: 4 }, limits: { 'nvidia.com/gpu': 1 } } },
        ],
      },
    });
    expect(await podFor('spot')).toMatchObject({
      spec: {
        tolerations: [{ value: 'true' }],
        priorityClassName: 'builds',
        terminationGracePeriodSeconds: 110,
      },
    });
  });

  test('reports all problems at once, and suggests the right names (H1)', async () => {
    const file = fileWith(
      'github: { apps: [{ id: 1 }] }\npools: [{ name: A, labels: [x], imag: i, namespace: n }]\nentitles: {}\n',
    );
    const { code, stdout } = await paddock('pools', 'check', file);
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      `${file} cannot be used:`,
      expect.stringContaining('pools.0.name: must be 1 to 30 characters'),
      expect.stringContaining('pools.0: there is no key `imag` here; did you mean `image`?'),
      expect.stringContaining('entities: is missing'),
      expect.stringContaining('there is no key `entitles` here; did you mean `entities`?'),
    ]);
  });

  test('a valid file that is probably not meant gets a warning', async () => {
    const template = '{ spec: { containers: [{ name: runner, image: theirs }] } }';
    const file = fileWith(
      `github: { apps: [{ id: 1 }] }\nentities: {}\npools:\n  - { name: a, labels: [x], image: i, namespace: n, maxWorkers: 0, template: ${template} }\n`,
    );
    const { code, stdout } = await paddock('pools', 'check', file);
    expect(code).toBe(0);
    expect(remarksIn(stdout).slice(1)).toEqual([
      "entities is empty, so no jobs are served: name entities, or '*' for all.",
      'a uses its own image i, not theirs of its template.',
    ]);
  });

  test('--json is one object on one line, also of a bad file', async () => {
    const asked = await paddock('pools', 'check', EXAMPLE, '--labels=docker', '--json');
    expect(asked.stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(asked.stdout)).toMatchObject({
      problems: [],
      pools: ['linux-x64', 'docker', 'gpu'],
      job: { labels: ['docker'], pools: ['docker'] },
      pods: [
        { pool: 'linux-x64' },
        {
          pool: 'docker',
          pod: { spec: { initContainers: [{ name: 'init-dind-externals' }, { name: 'dind' }] } },
        },
        { pool: 'gpu' },
      ],
    });
    const bad = await paddock('pools', 'check', join(folder, 'nowhere.yaml'), '--json');
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      problems: [expect.stringContaining('cannot be read')],
      pools: [],
    });
  });

  test.each([
    [['poll', 'check'], "unknown command 'poll'"],
    [['pools', 'check'], "missing required argument 'FILE'"],
    [['pools', 'check', 'a', '--labels', 'x,,y'], '--labels takes labels'],
  ])('%j is a wrong command: exit code 2 and how it is called', async (words, problem) => {
    const { code, stdout, stderr } = await paddock(...words);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(problem);
    expect(stderr).toContain('Usage:');
  });

  test('as a program prints the same, and ends with its code, without any variable', async () => {
    const words = ['pools', 'check', EXAMPLE, '--labels', 'windows'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...words], {
      encoding: 'utf8',
      env: {},
    });
    expect({ code: status, stdout, stderr }).toEqual(await paddock(...words));
    expect(status).toBe(1);
  });
});
