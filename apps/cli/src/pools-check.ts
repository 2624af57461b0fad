import { asRecord } from '@paddock/domain/pools/as-record';
import { type ConfigFile, configFileToLoad } from '@paddock/domain/pools/config-file';
import type { Pool } from '@paddock/domain/pools/pool';
import { poolsFor, sharedLabels } from '@paddock/domain/pools/labels';
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
  /** Pools that serve some entities or repositories only. Other jobs go to the next that fits. */
  readonly narrow: readonly string[];
  /** Label sets that fit several pools, with those pools, in the order in which jobs try them. */
  readonly shared: readonly {
    readonly labels: readonly string[];
    readonly pools: readonly string[];
  }[];
  /** The pod that each pool would make; empty if the file is not valid. */
  readonly pods: readonly { readonly pool: string; readonly pod: object }[];
  /** Present if labels were given and the file is valid. */
  readonly job?: {
    readonly labels: readonly string[];
    /** In the order in which it tries them, up to the first that serves all repositories. */
    readonly pools: readonly string[];
  };
}

/** Reads the file as the services do. A bad one does not throw. */
export function checkPools(file: string, labels: readonly string[] | undefined): PoolsCheck {
  const { value, written, problems } = readConfiguration(file);
  const pools = value?.pools ?? [];
  const narrow = namesOf(
    pools.filter(
      ({ entities, repositories }) => entities !== undefined || repositories !== undefined,
    ),
  );
  const found = {
    file,
    problems,
    pools: namesOf(pools),
    warnings: value === undefined ? [] : [...warningsAbout(value, written)],
    narrow,
    shared: sharedLabels(pools),
    pods: pools.map((pool) => ({ pool: pool.name, pod: podOf(pool) })),
  };
  if (value === undefined || labels === undefined) return found;
  return { ...found, job: { labels, pools: tried(namesOf(poolsFor(pools, labels)), narrow) } };
}

const namesOf = (pools: readonly Pool[]): string[] => pools.map(({ name }) => name);

/** Those of the fitting pools that may get a job. */
function tried(fitting: readonly string[], narrow: readonly string[]): readonly string[] {
  const last = fitting.findIndex((pool) => !narrow.includes(pool));
  return last === -1 ? fitting : fitting.slice(0, last + 1);
}

/** Where jobs go, as `a if it serves their repository, else to b`. */
const wayThrough = (pools: readonly string[], narrow: readonly string[], whose: string): string =>
  pools
    .map((pool) => (narrow.includes(pool) ? `${pool} if it serves ${whose} repository` : pool))
    .join(', else to ');

export const chartValues = z.looseObject({ config: configFileToLoad });

function readConfiguration(file: string): ReadYaml<ConfigFile> {
  const isOfChart = z.looseObject({ config: z.looseObject({}) });
  if (readYamlFile(file, isOfChart).value === undefined)
    return readYamlFile(file, configFileToLoad);
  const { value, written, problems } = readYamlFile(file, chartValues);
  return { value: value?.config, written: asRecord(written)['config'], problems };
}

const isGood = ({ problems, job }: PoolsCheck): boolean =>
  problems.length === 0 && job?.pools.length !== 0;

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
--labels, only the pools and the pods that a job with these labels may get; none is exit code 1.`,
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

export const remarksOf = ({ warnings, shared, narrow }: PoolsCheck): string[] => [
  ...warnings,
  ...shared.map(({ labels, pools }) => {
    const first = tried(pools, narrow);
    const others = pools.slice(first.length);
    const too = others.length === 0 ? '' : `; they fit ${others.join(', ')} too`;
    return `Jobs with the labels ${labels.join(', ')} go to ${wayThrough(first, narrow, 'their')}${too}.`;
  }),
];

/** If it shows pods, all else is YAML comments, so that `kubectl create -f -` takes it all. */
function describeCheck(check: PoolsCheck): string {
  const { file, problems, pools, narrow, job } = check;
  const lines =
    problems.length > 0
      ? [`${file} cannot be used:`, ...problems.map((problem) => `  - ${problem}`)]
      : [
          `${file} can be used; it has ${pools.length} ${pools.length === 1 ? 'pool' : 'pools'}.`,
          ...remarksOf(check),
        ];
  const labels = job?.labels.join(', ');
  if (job?.pools.length === 0)
    lines.push(`No pool serves a job with the labels ${labels}: none has all of them.`);
  const shown = job?.pools ?? pools;
  const pods = shown.flatMap((pool, nth) =>
    check.pods
      .filter((one) => one.pool === pool)
      .map(({ pod }) => {
        const title =
          job === undefined || nth > 0
            ? `A pod of ${pool}`
            : `A job with the labels ${labels} goes to ${wayThrough(shown, narrow, 'its')}, in a pod like this`;
        return `# ${title}:\n${stringify(pod, { lineWidth: 0 })}`;
      }),
  );
  const isYaml = pods.length > 0;
  return `${lines.map((line) => `${isYaml ? '# ' : ''}${line}\n`).join('')}${pods.join('---\n')}`;
}
