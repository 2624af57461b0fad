import { servesRepository } from './gate.ts';
import { nodePowersOf } from './node-powers.ts';
import type { Pool } from './pool.ts';

/** Whose jobs may use the runners of a group, as GitHub says. */
export interface GroupAccess {
  readonly visibility: 'all' | 'private' | 'selected';
  readonly allowsPublicRepositories: boolean;
  /** Null: any workflow. */
  readonly workflows: readonly string[] | null;
  /** The selected repositories as owner/name; null without such a list, or if GitHub hides it. */
  readonly repositories: readonly string[] | null;
}

/** Most repositories to name in the sentence. */
const MOST_NAMES = 3;

/**
 * Says in a sentence which jobs a runner group admits that the pool does not serve; undefined:
 * none. If `allowUntrusted` would accept that, the sentence says so. Without `access`, GitHub gives
 * us no such group, and runners go to the default one, which all repositories may use.
 */
export function groupExcess(pool: Pool, access: GroupAccess | undefined): string | undefined {
  const found = access === undefined ? withoutGroup(pool) : letIn(pool, access);
  if (found === undefined || !isHeldToItsGroup(pool) || pool.repositories !== undefined)
    return found;
  return `${found}; write allowUntrusted: true in the pool if that is meant`;
}

const withoutGroup = ({ runnerGroup }: Pool): string =>
  `GitHub lets us have no runner group ${runnerGroup}, and all repositories may use the default one`;

function letIn(
  pool: Pool,
  { visibility, allowsPublicRepositories, repositories }: GroupAccess,
): string | undefined {
  const others = (repositories ?? []).filter((one) => !servesRepository(pool, one));
  const some =
    others.slice(0, MOST_NAMES).join(', ') +
    (others.length > MOST_NAMES ? ` and ${others.length - MOST_NAMES} more` : '');
  const found = [
    ...(allowsPublicRepositories && visibility !== 'private' && !pool.publicRepositories
      ? ['public repositories']
      : []),
    ...(pool.repositories !== undefined && visibility !== 'selected'
      ? ['repositories that are not selected']
      : []),
    ...(pool.repositories !== undefined && visibility === 'selected' && repositories === null
      ? ['selected repositories that GitHub does not show us']
      : []),
    ...(others.length > 0 ? [`repositories that the pool does not serve (${some})`] : []),
  ];
  return found.length === 0
    ? undefined
    : `The runner group ${pool.runnerGroup} lets in ${found.join(', and ')}`;
}

/**
 * Whether a pool's runners may only register in a group that admits no other jobs: the pool names
 * whom it serves, or its jobs have power over their node. `allowUntrusted` lifts this, unless the
 * pool has `repositories`.
 */
export const isHeldToItsGroup = (pool: Pool): boolean =>
  pool.repositories !== undefined ||
  (!pool.allowUntrusted && (pool.entities !== undefined || nodePowersOf(pool).length > 0));

/** A runner group that Paddock makes if the organisation has none of that name. */
export interface GroupToMake extends Pick<GroupAccess, 'visibility' | 'allowsPublicRepositories'> {
  readonly name: string;
}

/** With `repositories` the default is a group of selected repositories. */
export const groupToMake = ({
  runnerGroup,
  runnerGroupVisibility,
  repositories,
  publicRepositories,
}: Pool): GroupToMake => ({
  name: runnerGroup,
  visibility: runnerGroupVisibility ?? (repositories === undefined ? 'all' : 'selected'),
  allowsPublicRepositories: publicRepositories,
});
