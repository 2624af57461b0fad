import type { Database } from '@paddock/db/tables';
import type { GitHub } from '@paddock/github/connect';
import type { RunnerGroups } from '@paddock/github/runner-groups';
import type { Kysely } from 'kysely';
import type { SchedulerEvents } from './events.ts';

/** What it takes to register a runner. */
export interface Registering {
  readonly db: Kysely<Database>;
  readonly github: GitHub;
  readonly runnerGroups: RunnerGroups;
  readonly events: SchedulerEvents;
}
