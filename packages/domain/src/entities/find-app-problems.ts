/** An App's rights at GitHub, and where it is installed. */
export interface AppToCheck {
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  readonly onOrganizations: boolean;
  readonly onUsers: boolean;
  /** A pool registers organisations’ runners at their repositories. */
  readonly atRepositories: boolean;
}

/** The rights that an App lacks, a sentence each; empty if none. */
export function findAppProblems({
  permissions,
  events,
  onOrganizations,
  onUsers,
  atRepositories,
}: AppToCheck): string[] {
  const lacks = (name: string, level: Level) => rankOf(permissions[name]) < LEVELS.indexOf(level);
  const needs = (name: string, level: Level, what: string) =>
    lacks(name, level) ? [`it lacks the permission ${name}: ${level}, without which ${what}`] : [];
  return [
    ...(events.includes('workflow_job')
      ? []
      : ['it is not subscribed to the event workflow_job: GitHub announces no jobs']),
    ...needs('actions', 'read', 'jobs cannot be looked up'),
    ...(onOrganizations
      ? needs('organization_self_hosted_runners', 'write', runnersOf('an organisation'))
      : []),
    ...(onUsers ? needs('administration', 'write', runnersOf('a user’s repository')) : []),
    ...(onOrganizations && atRepositories
      ? needs('administration', 'write', runnersOf('a pool with `registration: repository`'))
      : []),
  ];
}

const runnersOf = (whose: string): string => `no runner of ${whose} can register`;

const LEVELS = ['read', 'write', 'admin'] as const;
type Level = (typeof LEVELS)[number];

const rankOf = (level: string | undefined): number => LEVELS.findIndex((known) => known === level);
