import type { GroupAccess } from './group-excess.ts';
import type { Pool } from './pool.ts';

/** A runner group as it is made where the organisation has none of that name. */
export interface GroupToMake extends Pick<GroupAccess, 'visibility' | 'allowsPublicRepositories'> {
  readonly name: string;
}

/** The runner group that a pool wants; with `repositories`, unless it says otherwise, one of selected repositories. */
export const groupToMake = ({ runnerGroup, runnerGroupVisibility, repositories, publicRepositories }: Pool): GroupToMake => ({
  name: runnerGroup,
  visibility: runnerGroupVisibility ?? (repositories === undefined ? 'all' : 'selected'),
  allowsPublicRepositories: publicRepositories,
});
