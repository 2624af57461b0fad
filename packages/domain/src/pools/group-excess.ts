import { servesRepository } from './gate.ts';
import { nodePowersOf } from './node-powers.ts';
import type { Pool } from './pool.ts';

/** Whose jobs GitHub gives the runners of a group. */
export interface GroupAccess {
  readonly visibility: 'all' | 'private' | 'selected';
  readonly allowsPublicRepositories: boolean;
  /** Null: those of any workflow. */
  readonly workflows: readonly string[] | null;
  /** Those of a group of selected repositories, as owner/name; null: it has no such list, or GitHub does not show it. */
  readonly repositories: readonly string[] | null;
}

/** So many names are enough to know what is meant. */
const MOST_NAMES = 3;

/**
 * What a runner group lets in beyond what the pool serves, in a sentence, with the word that admits it where that is all that is wanting;
 * undefined: nothing. Without an access GitHub lets us have no group of that name, and runners go to the default one, which all repositories
 * may use.
 */
export function groupExcess(pool: Pool, access: GroupAccess | undefined): string | undefined {
  const found = access === undefined ? withoutGroup(pool) : letIn(pool, access);
  if (found === undefined || !isHeldToItsGroup(pool) || pool.repositories !== undefined) return found;
  return `${found}; write allowUntrusted: true in the pool if that is meant`;
}

const withoutGroup = ({ runnerGroup }: Pool): string =>
  `GitHub lets us have no runner group ${runnerGroup}, and all repositories may use the default one`;

function letIn(pool: Pool, { visibility, allowsPublicRepositories, repositories }: GroupAccess): string | undefined {
  const others = (repositories ?? []).filter((one) => !servesRepository(pool, one));
  const some = others.slice(0, MOST_NAMES).join(', ') + (others.length > MOST_NAMES ? ` and ${others.length - MOST_NAMES} more` : '');
  const found = [
    ...(allowsPublicRepositories && visibility !== 'private' && !pool.publicRepositories ? ['public repositories'] : []),
    ...(pool.repositories !== undefined && visibility !== 'selected' ? ['repositories that nobody selected'] : []),
    ...(pool.repositories !== undefined && visibility === 'selected' && repositories === null
      ? ['selected repositories that GitHub does not show us']
      : []),
    ...(others.length > 0 ? [`repositories that the pool does not serve (${some})`] : []),
  ];
  return found.length === 0 ? undefined : `The runner group ${pool.runnerGroup} lets in ${found.join(', and ')}`;
}

/**
 * Whether no runner of a pool may be registered in a group that lets in more than it serves: it names whom it serves, or its jobs have
 * power over their node. What is said twice is meant; `repositories` hold in any case.
 */
export const isHeldToItsGroup = (pool: Pool): boolean =>
  pool.repositories !== undefined || (pool.allowUntrusted !== true && (pool.entities !== undefined || nodePowersOf(pool).length > 0));
