import { type Gate, servesEntity, servesRepository } from './gate.ts';
import type { Pool } from './pool.ts';

/** A pool's rule of whose jobs it serves that GitHub cannot enforce. */
interface Misplaced {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A pool's gates that do not hold, because other jobs could get its runners. */
export function misplacedGates(pool: Pool): Misplaced[] {
  const {
    repositories,
    registration,
    runnerGroup,
    runnerGroupVisibility = 'selected',
    warm = [],
  } = pool;
  const isShared = repositories !== undefined && registration === 'organization';
  return [
    ...(isShared && runnerGroup.toLowerCase() === 'default'
      ? [{ path: ['repositories'], message: UNBOUNDED }]
      : []),
    ...(isShared && runnerGroupVisibility !== 'selected'
      ? [{ path: ['runnerGroupVisibility'], message: NOT_SELECTED }]
      : []),
    ...warm.flatMap(({ scope }, nth) =>
      mayServe(pool, scope)
        ? []
        : [
            {
              path: ['warm', nth, 'scope'],
              message: `is not served by this pool: see its entities and repositories`,
            },
          ],
    ),
  ];
}

const UNBOUNDED =
  'GitHub gives any job of an organisation any runner of its default group: write registration: repository, or name a runnerGroup that only these repositories may use';
const NOT_SELECTED =
  'must be selected, or left out: repositories says which may use the runner group';

/**
 * A scope is a login or owner/name. The entity of a login is unknown here, so any id may be right.
 */
function mayServe({ entities, repositories }: Gate, scope: string): boolean {
  const [login = ''] = scope.split('/');
  const isEntity =
    servesEntity({ entities }, { id: 0, login }) ||
    entities?.some((one) => one.startsWith('id:')) === true;
  return isEntity && (!scope.includes('/') || servesRepository({ repositories }, scope));
}

/** Whether two pools serve the same jobs. With the same labels, one of them would get none. */
export const sameGateAs =
  (pool: Gate) =>
  (other: Gate): boolean =>
    (['entities', 'repositories'] as const).every(
      (key) => asText(pool[key]) === asText(other[key]),
    );

const asText = (patterns: readonly string[] | undefined): string | undefined =>
  patterns
    ?.map((one) => one.toLowerCase())
    .toSorted()
    .join('\n');
