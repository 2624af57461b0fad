import type { GroupAccess } from './group-excess.ts';
import type { Pool } from './pool.ts';

/** A runner group that Paddock makes if the organisation has none of that name. */
export interface GroupToMake extends Pick<GroupAccess, 'visibility' | 'allowsPublicRepositories'> {
  readonly name: string;
}

/**
 * The runner group of a pool. With `repositories` its default is a group of selected repositories.
 */
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
