import type { Noting } from '@paddock/db/breakers/note-failure';
import type { GitHub } from '@paddock/github/connect';
import type { RunnerGroups } from '@paddock/github/runner-groups';
import type { Cluster } from '@paddock/kube/connect';
import type { SchedulerEvents } from '../events.ts';

/** The dependencies of every phase of a worker's making. */
export interface Provisioning extends Noting {
  readonly github: GitHub;
  readonly runnerGroups: RunnerGroups;
  readonly cluster: Cluster;
  readonly events: SchedulerEvents;
}
