import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { CommandResult } from '../command.ts';
import { runCommand } from '../run-command.ts';
import { fileWith, folder, wordsOf } from './as-files.scene.ts';
import { BAD_FILES, SCALE_SET } from './files.scene.ts';
import { ALL_FILES, BAD_RELEASES } from './releases.scene.ts';

const imported = (text: string, words: readonly string[] = [], name?: string) =>
  runCommand(['pools', 'import', fileWith(text, name), ...words], {});

/** Without the folder, which each run has another of. */
const saidBy = ({ stderr }: CommandResult): string => stderr.replaceAll(`${folder}/`, '');

const podOf = async (content: object): Promise<Pod> => {
  const words = ['--name', 'linux', '--namespace', 'runners', '--allow-untrusted'];
  const { stdout } = await imported(JSON.stringify(content), words);
  const check = await runCommand(['pools', 'check', fileWith(stdout, 'made.yaml'), '--json'], {});
  return (JSON.parse(check.stdout) as { pods: { pod: Pod }[] }).pods[0]?.pod as Pod;
};

interface Named {
  readonly name: string;
}

interface Pod {
  readonly metadata: object;
  readonly spec: Readonly<Record<'initContainers' | 'containers' | 'volumes', readonly Named[]>>;
}

/** Lists of containers, variables, mounts and volumes in one order: none matters here. */
function byName(list: readonly Named[]): Named[] {
  const sorted = list.map((one) =>
    Object.fromEntries(
      Object.entries(one).map(([key, value]: [string, unknown]) => [
        key,
        ['env', 'volumeMounts'].includes(key) ? byName(value as Named[]) : value,
      ]),
    ),
  ) as unknown as Named[];
  return sorted.toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Other programs of the machine do not count. */
const cpuSecondsSince = (began: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
};

describe('paddock pools import', () => {
  test.each(ALL_FILES)('$what', async ({ config, says = [], saysNot = [], ...file }) => {
    const result = await runCommand(['pools', 'import', ...wordsOf(file)], {});
    const written = parse(result.stdout) as { pools: object[] };
    expect(written).toMatchObject(config);
    for (const sentence of says) expect(saidBy(result)).toContain(sentence);
    for (const part of saysNot) expect(saidBy(result)).not.toContain(part);
    const checked = await runCommand(['pools', 'check', fileWith(result.stdout, 'made.yaml')], {});
    expect(checked.code).toBe(0);
    expect(result.code).toBe(0);
  });

  test.each([...BAD_FILES, ...BAD_RELEASES])(
    '$what becomes no pool, and a sentence says why',
    async (file) => {
      const began = process.cpuUsage();
      const { text, words, name, says } = file;
      const result = await imported(text, words, name);
      expect(result.code).toBe(1);
      expect(saidBy(result)).toContain(says);
      expect(cpuSecondsSince(began)).toBeLessThan(2);
    },
  );

  test('the standard input is a file, too', async () => {
    const terminal = { input: Readable.from([SCALE_SET]), output: null, notes: null };
    const { code, stdout } = await runCommand(['pools', 'import', '-'], {}, terminal as never);
    expect([code, parse(stdout)]).toMatchObject([0, { pools: [{ name: 'linux-x64' }] }]);
  });

  test('of several files, a set that becomes no pool takes no other with it', async () => {
    const bad = fileWith('maxRunners: 5', 'bad.yaml');
    const { code, stdout, stderr } = await runCommand(
      ['pools', 'import', fileWith(SCALE_SET), bad, join(folder, 'nowhere.yaml')],
      {},
    );
    expect(code).toBe(1);
    expect(parse(stdout)).toMatchObject({ pools: [{ name: 'linux-x64' }] });
    expect(stderr).toContain('bad: githubConfigUrl: is missing: name the address with --url.');
    expect(stderr).toContain('nowhere.yaml: cannot be read');
  });

  test('what all releases of a file lack is said once', async () => {
    const chart = { name: 'gha-runner-scale-set', repo: 'oci://r', valuesFile: 'v.yaml' };
    const { stderr } = await imported(JSON.stringify({ helmCharts: [chart, chart] }));
    expect(stderr.split('its values are in v.yaml')).toHaveLength(2);
  });

  test.each([
    [
      'kubernetesModeWorkVolumeClaim: {}',
      'containerMode.kubernetesModeWorkVolumeClaim: is missing',
    ],
    ["runnerGroup: '###GROUP###'", 'runnerGroup: ###GROUP### is filled in by another program'],
  ])('%s of kubernetes mode is named, since its pods would not start', async (line, sentence) => {
    const { stderr } = await imported(
      `githubConfigUrl: https://github.com/acme\ncontainerMode: { type: kubernetes }\n${line}`,
    );
    expect(stderr).toContain(sentence);
  });

  test('no credential is shown, of the token or the key in the values', async () => {
    const { stdout, stderr } = await imported(`
githubConfigUrl: https://github.com/acme
githubConfigSecret: { github_token: ghp_hush, github_app_private_key: hush-hush }
`);
    expect(stdout + stderr).not.toContain('hush');
  });

  test('--json is one object on one line', async () => {
    const { stdout } = await imported(
      `${SCALE_SET}\n---\nkind: Secret\napiVersion: v1\nmetadata: { name: s }`,
      ['--json'],
    );
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toMatchObject({
      config: { pools: [{ name: 'linux-x64' }] },
      pools: [{ pool: 'linux-x64' }],
      refused: [],
      remarks: expect.arrayContaining([
        { from: expect.stringContaining('Secret s'), sentence: 'holds no runner set' },
      ]),
      commands: [
        expect.stringContaining('github_app_id'),
        expect.stringContaining('kubectl create secret generic paddock-github'),
      ],
    });
  });

  /**
   * What `helm template linux CHART -n runners -f VALUES` made of the values, with the charts
   * 0.14.2 and Helm 4.1, and without its labels.
   */
  const CHART_OBJECTS = readFileSync(join(import.meta.dirname, 'chart-objects.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { values: object; object: object });

  test.each(CHART_OBJECTS)(
    'the pod of values is that of what the chart makes of them (%#)',
    async ({ values, object }) => {
      const { metadata, spec } = await podOf(values);
      const there = await podOf(object);
      expect(metadata).toEqual(there.metadata);
      const { initContainers, containers, volumes, ...rest } = there.spec;
      const { initContainers: ours, containers: _c, volumes: _v, ...our } = spec;
      expect(our).toEqual(rest);
      expect(byName(spec.containers)).toEqual(byName(containers));
      expect(byName(spec.volumes)).toEqual(byName(volumes));
      // The daemon and its helper are Paddock's own; docs/runner-pods.md says what they have.
      expect(byName(ours).map(({ name }) => name)).toEqual(
        byName(initContainers).map(({ name }) => name),
      );
    },
  );

  test('two hundred sets of a cluster are a file within two seconds', async () => {
    const [one = ''] = SCALE_SET.split('\n---');
    const items = Array.from({ length: 200 }, (_, n) => ({
      ...(parse(one) as object),
      metadata: { name: `set-${n}`, namespace: `team-${n % 20}` },
    }));
    const began = process.cpuUsage();
    const { code } = await imported(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    expect(code).toBe(0);
    expect(cpuSecondsSince(began)).toBeLessThan(2);
  });
});
