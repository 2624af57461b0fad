import type { z } from 'zod';
import { namesEntities } from './gate.ts';
import { nodePowersOf } from './node-powers.ts';
import type { Pool } from './pool.ts';
import { validPartsOf } from './check-together.ts';

/** Users that a pool's configuration does not name, and how to keep them out. */
interface UnnamedUsers {
  readonly whom: string;
  readonly remedy: string;
}

/** The users who can run jobs in a pool although the pool does not name them. */
export function unnamedUsers(
  entities: Readonly<Record<string, unknown>>,
  pool: Pool,
): UnnamedUsers[] {
  return [
    ...(Object.hasOwn(entities, '*') && !namesEntities(pool)
      ? [
          {
            whom: "everyone who installs the App, because of '*' in entities",
            remedy: 'name entities, without a *, in entities of the pool',
          },
        ]
      : []),
    ...(pool.publicRepositories
      ? [
          {
            whom: 'public repositories, where anyone can propose code to run',
            remedy: 'leave publicRepositories out',
          },
        ]
      : []),
  ];
}

/** Every repository of an organisation may use its default group, which we do not control. */
const ofDefaultGroup = ({ registration, runnerGroup }: Pool): UnnamedUsers[] =>
  registration === 'organization' && runnerGroup.toLowerCase() === 'default'
    ? [
        {
          whom: 'all that may use the runner group Default',
          remedy: 'name a separate runnerGroup, or write registration: repository',
        },
      ]
    : [];

/**
 * Why a pool needs `allowUntrusted`: an unnamed user who runs a job in it gets its node. Checked
 * when a file is loaded, not when a stored document is read: the pools in force stay in force.
 */
function untrustedUses(entities: Readonly<Record<string, unknown>>, pool: Pool): string[] {
  const [power] = nodePowersOf(pool);
  if (pool.allowUntrusted || power === undefined) return [];
  return [...unnamedUsers(entities, pool), ...ofDefaultGroup(pool)].map(
    ({ whom, remedy }) =>
      `its jobs have power over their node (${power}), and it serves ${whom}: ${remedy}; or, if that is meant, write allowUntrusted: true`,
  );
}

/** Refuses such pools in a file. Other problems are reported, too. */
export function refuseUntrusted(content: unknown, context: z.RefinementCtx): void {
  const { pools, entities } = validPartsOf(content);
  for (const [index, pool] of pools.entries()) {
    const messages = pool === undefined ? [] : untrustedUses(entities, pool);
    for (const message of messages)
      context.addIssue({ code: 'custom', path: ['pools', index, 'allowUntrusted'], message });
  }
}
