import { configFileToLoad } from '@paddock/domain/pools/config-file';
import type { Pool } from '@paddock/domain/pools/pool';
import { poolFor, sharedLabels } from '@paddock/domain/pools/pools-document';
import { workerName } from '@paddock/domain/workers/worker-name';
import { runnerPod } from '@paddock/kube/runner-pod';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import { warningsAbout } from './warnings.ts';

/** The result of checking a configuration file, and the JSON of `--json`. */
export interface PoolsCheck {
  readonly file: string;
  /** All errors. No service uses a file with problems. */
  readonly problems: readonly string[];
  readonly pools: readonly string[];
  /** Warnings: settings that are valid but probably a mistake. */
  readonly warnings: readonly string[];
  /** Label sets that fit several pools, with those pools. The first one serves such jobs. */
  readonly shared: readonly {
    readonly labels: readonly string[];
    readonly pools: readonly string[];
  }[];
  /** Present if labels were given and the file is valid. */
  readonly job?: {
    readonly labels: readonly string[];
    readonly pool: string | null;
    readonly pod: object | null;
  };
}

/**
 * Reads the file as the services do, and finds the pool for the labels. A bad file does not throw.
 */
export function checkPools(file: string, labels: readonly string[] | undefined): PoolsCheck {
  const { value, written, problems } = readYamlFile(file, configFileToLoad);
  const pools = value?.pools ?? [];
  const found = {
    file,
    problems,
    pools: pools.map(({ name }) => name),
    warnings: value === undefined ? [] : warningsAbout(value, written),
    shared: sharedLabels(pools),
  };
  if (value === undefined || labels === undefined) return found;
  const pool = poolFor(pools, labels);
  return {
    ...found,
    job: { labels, pool: pool?.name ?? null, pod: pool === undefined ? null : podOf(pool) },
  };
}

export const isGood = ({ problems, job }: PoolsCheck): boolean =>
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
