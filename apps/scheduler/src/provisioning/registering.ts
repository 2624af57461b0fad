import type { Noting } from '@paddock/db/breakers/note-failure';
import type { GitHub } from '@paddock/github/connect';
import type { RunnerGroups } from '@paddock/github/runner-groups';
import type { SchedulerEvents } from '../events.ts';

/** What it takes to register a runner. */
export interface Registering extends Noting {
  readonly github: GitHub;
  readonly runnerGroups: RunnerGroups;
  readonly events: SchedulerEvents;
}
