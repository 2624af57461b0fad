import { configFileToLoad } from '@paddock/domain/pools/config-file';
import type { Pool } from '@paddock/domain/pools/pool';
import { poolFor, sharedLabels } from '@paddock/domain/pools/pools-document';
import { workerName } from '@paddock/domain/workers/worker-name';
import { runnerPod } from '@paddock/kube/runner-pod';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import { warningsAbout } from './warnings.ts';

/** What there is to say of a configuration file; also the JSON that is printed. */
export interface PoolsCheck {
  readonly file: string;
  /** Everything that is wrong; a file with problems is used by no service. */
  readonly problems: readonly string[];
  readonly pools: readonly string[];
  /** What can be used, and is hardly meant. */
  readonly warnings: readonly string[];
  /** Label sets that fit several pools, each with these pools, the one that serves such jobs first. */
  readonly shared: readonly { readonly labels: readonly string[]; readonly pools: readonly string[] }[];
  /** Present if it was asked for labels and the file can be used. */
  readonly job?: { readonly labels: readonly string[]; readonly pool: string | null; readonly pod: object | null };
}

/** Reads the file as the services would, and works out what a job of these labels would get. Throws nothing for a bad file. */
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
  return { ...found, job: { labels, pool: pool?.name ?? null, pod: pool === undefined ? null : podOf(pool) } };
}

export const isGood = ({ problems, job }: PoolsCheck): boolean => problems.length === 0 && job?.pool !== null;

/** The pod as the scheduler makes it, with a name and an entity that only stand for real ones. */
function podOf(pool: Pool): object {
  const name = workerName('000000', pool.name, '000000000000');
  return runnerPod({ ...pool, name, instance: '000000', pool: pool.name, entityId: 0, scopeRepoId: 0 });
}
