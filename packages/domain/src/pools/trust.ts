import type { z } from 'zod';
import { namesEntities } from './gate.ts';
import { nodePowersOf } from './node-powers.ts';
import type { Pool } from './pool.ts';
import { validPartsOf } from './check-together.ts';

/** UnnamedUsers, and what keeps them out of a pool. */
interface UnnamedUsers {
  readonly whom: string;
  readonly remedy: string;
}

/** Who may get jobs into a pool without having been named; empty: nobody. */
export function unnamedUsers(entities: Readonly<Record<string, unknown>>, pool: Pool): UnnamedUsers[] {
  return [
    ...(Object.hasOwn(entities, '*') && !namesEntities(pool)
      ? [{ whom: "whoever installs the App, whom '*' in entities admits", remedy: 'name entities, without a *, in entities of the pool' }]
      : []),
    ...(pool.publicRepositories
      ? [{ whom: 'public repositories, where anybody proposes what runs', remedy: 'leave publicRepositories out' }]
      : []),
  ];
}

/**
 * Every repository of an organisation may use its default group, and who may is changed by others
 * than us.
 */
const ofDefaultGroup = ({ registration, runnerGroup }: Pool): UnnamedUsers[] =>
  registration === 'organization' && runnerGroup.toLowerCase() === 'default'
    ? [{ whom: 'all that may use the runner group Default', remedy: 'name a runnerGroup of its own, or write registration: repository' }]
    : [];

/**
 * Why a pool must not be used as it is written, unless that is said twice: whoever gets a job into
 * it gets its node. Judged where a file is loaded, and not where a stored document is read: what is
 * in force stays in force.
 */
function untrustedUses(entities: Readonly<Record<string, unknown>>, pool: Pool): string[] {
  const [power] = nodePowersOf(pool);
  if (pool.allowUntrusted === true || power === undefined) return [];
  return [...unnamedUsers(entities, pool), ...ofDefaultGroup(pool)].map(
    ({ whom, remedy }) =>
      `its jobs have power over their node (${power}), and it serves ${whom}: ${remedy}; or, if that is meant, write allowUntrusted: true`,
  );
}

/** Refuses such uses in a file, and leaves other problems to be reported too. */
export function refuseUntrusted(content: unknown, context: z.RefinementCtx): void {
  const { pools, entities } = validPartsOf(content);
  for (const [index, pool] of pools.entries()) {
    const messages = pool === undefined ? [] : untrustedUses(entities, pool);
    for (const message of messages) context.addIssue({ code: 'custom', path: ['pools', index, 'allowUntrusted'], message });
  }
}
