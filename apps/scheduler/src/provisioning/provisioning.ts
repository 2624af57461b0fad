import type { Reaches } from '@paddock/db/outages';
import type { GitHub } from '@paddock/github/connect';
import type { RunnerGroups } from '@paddock/github/runner-groups';
import type { Cluster } from '@paddock/kube/connect';
import type { SchedulerEvents } from '../events.ts';
import type { NotingFailures } from '../following/note-health.ts';

/** The dependencies of every phase of a worker's making. */
export interface Provisioning extends NotingFailures {
  readonly github: GitHub;
  readonly runnerGroups: RunnerGroups;
  readonly cluster: Cluster;
  readonly reach: Reaches;
  readonly events: SchedulerEvents;
}
