import { splitByRunner } from '@paddock/domain/deliveries/fold-job-statements';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { Kysely } from 'kysely';
import type { NamedEntity } from '@paddock/domain/pools/entities';
import { pinLogins } from '../entities/login-pins.ts';
import type { DeliveryToRecord } from './delivery-to-record.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { addStored, bindRunners, type StoredJobs } from '../jobs/record-jobs.ts';
import { isJobDelivery, statementOf, storeJobDeliveries } from './store-job-deliveries.ts';
import { storeNewJob } from './store-new-job.ts';
import { storeOtherDeliveries } from './store-other-deliveries.ts';
import type { Database } from '../schema/tables.ts';

/**
 * Stores a batch of deliveries, all or none, in one transaction: jobs, the workers bound to them,
 * installations, and one event per delivery. A repeated body leaves a limited number of events.
 * Returns the outcomes in the order of the batch.
 */
export async function recordDeliveries(
  db: Kysely<Database>,
  batch: readonly DeliveryToRecord[],
  pools: CurrentPools,
): Promise<readonly Outcome[]> {
  const ofJobs = batch.filter(isJobDelivery);
  const [only] = ofJobs;
  const stored =
    only === undefined || batch.length > 1 ? undefined : await storeNewJob(db, only, pools);
  if (stored !== undefined) return [stored];
  if (
    ofJobs.length === batch.length &&
    ofJobs.every(({ parsed }) => parsed.job.runnerName === null)
  ) {
    // A single statement is its own transaction: a queued job, for which a person waits, costs one
    // round trip.
    return (await storeJobDeliveries(db, ofJobs, pools)).map(({ outcome }) => outcome);
  }
  return db.transaction().execute(async (trx) => {
    const outcomes: Outcome[] = [];
    // Deliveries about entities are rare: they lock installations and pin all logins first, in one
    // order for all.
    const refused = batch.some(isAboutEntity)
      ? await pinLogins(trx, batch.flatMap(entityOf))
      : new Set<number>();
    // All transactions lock in this order: the table of installations, pinned logins, jobs,
    // installations, workers.
    const storedJobs: StoredJobs = new Map();
    const stated = batch.flatMap((delivery, index) =>
      isJobDelivery(delivery) ? [{ ...statementOf(delivery), delivery, index }] : [],
    );
    for (const round of splitByRunner(stated)) {
      round.sort((a, b) => a.index - b.index);
      const deliveries = round.map(({ delivery }) => delivery);
      for (const [nth, row] of (await storeJobDeliveries(trx, deliveries, pools)).entries()) {
        addStored(storedJobs, row.jobId, row, row.place);
        outcomes[round[nth]?.index ?? -1] = row.outcome;
      }
    }
    const others = batch.flatMap((delivery, index) =>
      isJobDelivery(delivery) ? [] : [{ delivery, index }],
    );
    const deliveries = others.map(({ delivery }) => delivery);
    for (const [nth, outcome] of (
      await storeOtherDeliveries(trx, deliveries, { pools, refused })
    ).entries()) {
      outcomes[others[nth]?.index ?? -1] = outcome;
    }
    await bindRunners(trx, stated, storedJobs, pools);
    return outcomes;
  });
}

/**
 * The delivery writes installations outside of the statement for jobs: an installation, a name, or
 * a waiting job in passing.
 */
const isAboutEntity = ({ parsed }: DeliveryToRecord): boolean =>
  parsed.kind !== 'job' && parsed.kind !== 'noted';

/**
 * The entity with this login, by the delivery. Not one that lost the App: it may have lost its name
 * since.
 */
function entityOf({ parsed }: DeliveryToRecord): NamedEntity[] {
  const isOfUse =
    parsed.kind !== 'noted' && !(parsed.kind === 'installation' && parsed.statement.isDeleted);
  return isOfUse && parsed.entity !== null ? [parsed.entity] : [];
}
