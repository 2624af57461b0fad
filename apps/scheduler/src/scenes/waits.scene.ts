import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { noteAway, noteBack, type Reaches } from '@paddock/db/outages';
import { createReach, type Probe, type Service } from '@paddock/runtime/reach';

/** Ends or begins the scheduler's waits, so that no test waits for them. */
export const waitsOf = (db: Db) => ({
  /** As if the wait of every queued task were over. */
  makeDue: () =>
    db
      .updateTable('tasks')
      .set({ due_at: new Date(0) })
      .where('status', '=', 'queued')
      .execute(),
  /** As if all that GitHub has asked to wait for were over. */
  endWaits: () =>
    db.updateTable('installations').set({ wait_until: null, core_wait_until: null }).execute(),
  /** As if GitHub had told us nothing of any installation. */
  forgetTold: () =>
    sql`
      update installations set wait_until = null, core_wait_until = null, registrations_left = null, registrations_reset_at = null,
        refused_since = null, refused_until = null, refused_reason = null, refused_message = null`.execute(
      db,
    ),
  /** As if the times of all refusals were over. */
  endRefusedTimes: () => passRefused(db, 60),
  /** As if so many minutes had passed for all refusals. */
  passRefused: (minutes: number) => passRefused(db, minutes),
  /** The keys whose workers have failed since their last success. */
  failing: () =>
    db
      .selectFrom('demand_keys')
      .select(['entity_name as entity', 'k8s_pool as pool', 'failures', 'pauses'])
      .select(['failure_class as failureClass', 'failure_message as message'])
      .where('failures', '>', 0)
      .orderBy('entity_name')
      .orderBy('k8s_pool')
      .execute(),
  outages: async () =>
    (await db.selectFrom('outages').select('service').orderBy('service').execute()).map(
      ({ service }) => service,
    ),
  /** As if the pauses of all failing keys were over. */
  endPauses: () =>
    db
      .updateTable('demand_keys')
      .set({ paused_until: new Date(0) })
      .where('pauses', '>', 0)
      .execute(),
  /** As if all pauses had just begun: on a busy machine, one could end during a test's step. */
  holdPauses: () =>
    db
      .updateTable('demand_keys')
      .set({ paused_until: sql<Date>`now() + interval '1 hour'` })
      .where('pauses', '>', 0)
      .execute(),
});

async function passRefused(db: Db, minutes: number): Promise<void> {
  const ago = (column: string) =>
    sql<Date>`${sql.ref(column)} - ${minutes}::float8 * interval '1 minute'`;
  const set = { refused_since: ago('refused_since'), refused_until: ago('refused_until') };
  for (const table of ['apps', 'installations', 'repositories'] as const)
    await db.updateTable(table).set(set).where('refused_since', 'is not', null).execute();
}

export interface ImpatientReaches extends Reaches {
  /** Probes what is away, as a service does each second, and waits until the row says the result. */
  probeAgain(): Promise<void>;
}

/**
 * Reaches whose probes need no second between them, so that a test with many failures waits for
 * nothing.
 */
export function impatientReaches(
  db: Db,
  probes: Readonly<Record<Service, Probe>>,
): ImpatientReaches {
  let shared: Promise<unknown> = Promise.resolve();
  const reachOf = (service: Service, row: string) =>
    createReach({
      probe: probes[service],
      onAway: () => undefined,
      onBack: () => undefined,
      share: (message) =>
        (shared = message === undefined ? noteBack(db, row) : noteAway(db, row, message)),
      pause: () => Promise.resolve(),
    });
  const reaches = { github: reachOf('github', 'github'), cluster: reachOf('cluster', 'default') };
  return {
    ...reaches,
    async probeAgain() {
      for (const reach of [reaches.github, reaches.cluster]) {
        if (reach.isAway()) await reach.report();
        // The word is passed on after the report.
        await new Promise(setImmediate);
        await shared;
      }
    },
  };
}
