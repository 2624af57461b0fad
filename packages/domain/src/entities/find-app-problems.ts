/** Where an App serves: this decides which rights it needs. */
export interface ServedByApp {
  readonly onOrganizations: boolean;
  readonly onUsers: boolean;
  /** A pool registers organisations’ runners at their repositories. */
  readonly atRepositories: boolean;
}

type Permissions = Readonly<Record<string, string>>;

export interface AppToCheck extends ServedByApp {
  readonly permissions: Permissions;
  readonly events: readonly string[];
}

export const APP_EVENTS: readonly string[] = ['workflow_job'];

interface Right {
  readonly name: string;
  readonly level: Level;
  /** What does not work without it. */
  readonly without: string;
  isNeeded(served: ServedByApp): boolean;
}

const runnersOf = (whose: string): string => `no runner of ${whose} can register`;

const RIGHTS: readonly Right[] = [
  { name: 'actions', level: 'read', without: 'jobs cannot be looked up', isNeeded: () => true },
  {
    name: 'organization_self_hosted_runners',
    level: 'write',
    without: runnersOf('an organisation'),
    isNeeded: ({ onOrganizations }) => onOrganizations,
  },
  {
    name: 'administration',
    level: 'write',
    without: runnersOf('a user’s repository'),
    isNeeded: ({ onUsers }) => onUsers,
  },
  {
    name: 'administration',
    level: 'write',
    without: runnersOf('a pool with `registration: repository`'),
    isNeeded: ({ onOrganizations, atRepositories }) => onOrganizations && atRepositories,
  },
];

export const permissionsFor = (served: ServedByApp): Permissions =>
  Object.fromEntries(
    RIGHTS.filter(({ isNeeded }) => isNeeded(served)).map(({ name, level }) => [name, level]),
  );

export const findAppProblems = ({ permissions, events, ...served }: AppToCheck): string[] => [
  ...APP_EVENTS.filter((event) => !events.includes(event)).map(
    (event) => `it is not subscribed to the event ${event}: GitHub announces no jobs`,
  ),
  ...RIGHTS.filter(
    ({ name, level, isNeeded }) => isNeeded(served) && lacks(permissions, name, level),
  ).map(
    ({ name, level, without }) =>
      `it lacks the permission ${name}: ${level}, without which ${without}`,
  ),
];

/** What an App needs and has, and one of its installations has not accepted, as `actions: read`. */
export const findUnaccepted = (
  { permissions, ...served }: Omit<AppToCheck, 'events'>,
  accepted: Permissions,
): string[] =>
  Object.entries(permissionsFor(served)).flatMap(([name, level]) =>
    lacks(accepted, name, level) && !lacks(permissions, name, level) ? [`${name}: ${level}`] : [],
  );

const LEVELS = ['read', 'write', 'admin'] as const;
type Level = (typeof LEVELS)[number];

const rankOf = (level: string | undefined): number => LEVELS.findIndex((known) => known === level);

const lacks = (permissions: Permissions, name: string, level: string): boolean =>
  rankOf(permissions[name]) < rankOf(level);
