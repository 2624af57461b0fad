import type { Database } from '@paddock/db/schema/tables';
import type { GitHub } from '@paddock/github/connect';
import type { Cluster } from '@paddock/kube/connect';
import type { ExecutorEvents } from '@paddock/queue/executor-events';
import type { Service } from '@paddock/runtime/reach';
import type { Kysely } from 'kysely';
import type { ReconcilerConfig } from './config.ts';
import type { ReconcilerEvents } from './events.ts';

/** The dependencies of all sweeps. */
export interface SweepContext {
  db: Kysely<Database>;
  github: GitHub;
  cluster: Cluster;
  config: ReconcilerConfig;
  events: ReconcilerEvents;
  /** Our own probe: whether GitHub or the cluster is away. */
  isAway: (service: Service) => Promise<boolean>;
  taskEvents: Pick<ExecutorEvents, 'taskCrashed'>;
}
