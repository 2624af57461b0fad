import { asRecord } from '@paddock/domain/pools/as-record';
import { type ConfigFile, configFileToLoad } from '@paddock/domain/pools/config-file';
import type { Pool } from '@paddock/domain/pools/pool';
import { poolFor, sharedLabels } from '@paddock/domain/pools/labels';
import { workerName } from '@paddock/domain/workers/worker-name';
import { runnerPod } from '@paddock/kube/runner-pod';
import { type ReadYaml, readYamlFile } from '@paddock/runtime/yaml-file';
import { stringify } from 'yaml';
import { z } from 'zod';
import { warningsAbout } from './warnings.ts';
import { type Command, JSON_OPTION, WrongUsage } from './command.ts';

export interface PoolsCheck {
  readonly file: string;
  /** All errors. No service uses a file with problems. */
  readonly problems: readonly string[];
  readonly pools: readonly string[];
  readonly warnings: readonly string[];
  /** Label sets that fit several pools, with those pools. The first one serves such jobs. */
  readonly shared: readonly {
    readonly labels: readonly string[];
    readonly pools: readonly string[];
  }[];
  /** The pod that each pool would make; empty if the file is not valid. */
  readonly pods: readonly { readonly pool: string; readonly pod: object }[];
  /** Present if labels were given and the file is valid. */
  readonly job?: {
    readonly labels: readonly string[];
    readonly pool: string | null;
    readonly pod: object | null;
  };
}

/** Reads the file as the services do. A bad one does not throw. */
export function checkPools(file: string, labels: readonly string[] | undefined): PoolsCheck {
  const { value, written, problems } = readConfiguration(file);
  const pools = value?.pools ?? [];
  const found = {
    file,
    problems,
    pools: pools.map(({ name }) => name),
    warnings: value === undefined ? [] : [...warningsAbout(value, written)],
    shared: sharedLabels(pools),
    pods: pools.map((pool) => ({ pool: pool.name, pod: podOf(pool) })),
  };
  if (value === undefined || labels === undefined) return found;
  const pool = poolFor(pools, labels);
  return {
    ...found,
    job: { labels, pool: pool?.name ?? null, pod: pool === undefined ? null : podOf(pool) },
  };
}

export const chartValues = z.looseObject({ config: configFileToLoad });

function readConfiguration(file: string): ReadYaml<ConfigFile> {
  const isOfChart = z.looseObject({ config: z.looseObject({}) });
  if (readYamlFile(file, isOfChart).value === undefined)
    return readYamlFile(file, configFileToLoad);
  const { value, written, problems } = readYamlFile(file, chartValues);
  return { value: value?.config, written: asRecord(written)['config'], problems };
}

const isGood = ({ problems, job }: PoolsCheck): boolean =>
  problems.length === 0 && job?.pool !== null;

/** The pod that the scheduler would make, with an example name and entity. */
function podOf(pool: Pool): object {
  const name = workerName('000000', pool.name, '000000000000');
  return runnerPod({
    ...pool,
    name,
    instance: '000000',
    pool: pool.name,
    entityId: 0,
    scopeRepoId: 0,
  });
}

/** Needs neither a database nor a cluster nor secrets. */
export const poolsCheck: Command = {
  name: 'pools check',
  takes: 'FILE',
  summary: `Checks a configuration file, or values for the chart, before you roll it out, without a database,
a cluster or secrets.
Prints all errors, warnings, label sets that fit several pools, and a pod of each pool. With
--labels, only the pool and the pod that a job with these labels would get; none is exit code 1.`,
  options: {
    labels: { value: 'A,B', doc: 'The job’s labels in runs-on' },
    json: JSON_OPTION,
  },
  run({ words: [file = ''], options }) {
    const check = checkPools(file, readLabels(options['labels']));
    return {
      code: isGood(check) ? 0 : 1,
      stdout: options['json'] === true ? `${JSON.stringify(check)}\n` : describeCheck(check),
      stderr: '',
    };
  },
};

function readLabels(given: string | boolean | undefined): readonly string[] | undefined {
  if (typeof given !== 'string') return undefined;
  const labels = given.split(',').map((label) => label.trim());
  if (labels.includes(''))
    throw new WrongUsage(
      '--labels takes labels with a comma between each two, such as self-hosted,linux.',
    );
  return labels;
}

export const remarksOf = ({ warnings, shared }: PoolsCheck): string[] => [
  ...warnings,
  ...shared.map(
    ({ labels, pools: [first, ...others] }) =>
      `Jobs with the labels ${labels.join(', ')} go to ${first}; they fit ${others.join(', ')} too.`,
  ),
];

/** If it shows pods, all else is YAML comments, so that `kubectl create -f -` takes it all. */
function describeCheck(check: PoolsCheck): string {
  const { file, problems, pools, job } = check;
  const lines =
    problems.length > 0
      ? [`${file} cannot be used:`, ...problems.map((problem) => `  - ${problem}`)]
      : [
          `${file} can be used; it has ${pools.length} ${pools.length === 1 ? 'pool' : 'pools'}.`,
          ...remarksOf(check),
        ];
  const labels = job?.labels.join(', ');
  if (job?.pool === null)
    lines.push(`No pool serves a job with the labels ${labels}: none has all of them.`);
  const pods = check.pods
    .filter(({ pool }) => job === undefined || pool === job.pool)
    .map(({ pool, pod }) => {
      const title =
        job === undefined
          ? `A pod of ${pool}`
          : `A job with the labels ${labels} goes to ${pool}, in a pod like this`;
      return `# ${title}:\n${stringify(pod, { lineWidth: 0 })}`;
    });
  const isYaml = pods.length > 0;
  return `${lines.map((line) => `${isYaml ? '# ' : ''}${line}\n`).join('')}${pods.join('---\n')}`;
}
