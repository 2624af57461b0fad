import type { KubeReport } from '@paddock/simulators/kube/kube-report';
import { findInstance } from '@paddock/db/instance';
import type { Environment } from './environment.ts';

const INSTANCE = 'paddock.dev/instance';
const POOL = 'paddock.dev/pool';
const ENTITY = 'paddock.dev/entity-id';

/** The labels by which the simulated cluster counts pods, for the caps of pools and of entities. */
export const COUNT_BY = [
  [INSTANCE, POOL],
  [INSTANCE, ENTITY],
] as const;

/**
 * The most pods that an environment had at one moment: of its pool, and of the entity with the
 * most.
 */
export interface MostActive {
  readonly pool: number;
  readonly entity: number;
}

/** The most pods of an environment, by the cluster. */
export async function mostActiveOf(
  { db }: Environment,
  { mostActivePodsBy }: KubeReport,
): Promise<MostActive> {
  const ours = `${INSTANCE}=${await findInstance(db)},`;
  const most = (label: string): number =>
    Object.entries(mostActivePodsBy).reduce(
      (max, [group, pods]) => (group.startsWith(`${ours}${label}=`) ? Math.max(max, pods) : max),
      0,
    );
  return { pool: most(POOL), entity: most(ENTITY) };
}

/** The exceeded caps, in words. */
export const exceededCaps = (
  { caps, schema }: Pick<Environment, 'caps' | 'schema'>,
  most: MostActive,
): string[] =>
  (['pool', 'entity'] as const).flatMap((what) =>
    most[what] > caps[what]
      ? [
          `${schema} had ${most[what]} pods of one ${what} at one moment, and its cap is ${caps[what]}`,
        ]
      : [],
  );
