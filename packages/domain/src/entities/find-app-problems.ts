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
  const problems: string[] = [];
  if (!events.includes('workflow_job')) {
    problems.push('it is not subscribed to the event workflow_job: GitHub announces no jobs');
  }
  if (lacks('actions', 'read'))
    problems.push('it lacks the permission actions: read, without which jobs cannot be looked up');
  if (onOrganizations && lacks('organization_self_hosted_runners', 'write')) {
    problems.push(
      'it lacks the permission organization_self_hosted_runners: write, without which no runner of an organisation can register',
    );
  }
  if (onUsers && lacks('administration', 'write')) {
    problems.push(
      'it lacks the permission administration: write, without which no runner of a user’s repository can register',
    );
  }
  if (onOrganizations && atRepositories && lacks('administration', 'write')) {
    problems.push(
      'it lacks the permission administration: write, without which no runner of a pool with `registration: repository` can register',
    );
  }
  return problems;
}

const LEVELS = ['read', 'write', 'admin'] as const;
type Level = (typeof LEVELS)[number];

const rankOf = (level: string | undefined): number => LEVELS.findIndex((known) => known === level);
