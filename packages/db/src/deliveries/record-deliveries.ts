import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';
import type { NamedEntity } from '@paddock/domain/pools/entities';
import { type IgnoredJob, NOT_SERVED, type PlacedJob } from '@paddock/domain/pools/place-job';
import type { Kysely } from 'kysely';
import type { InstallationMention } from '../entities/installations.ts';
import { pinLogins } from '../entities/login-pins.ts';
import type { EventToAppend } from '../events/installation-events.ts';
import { jobToStore } from '../jobs/job-to-store.ts';
import { bindRunners } from '../jobs/record-jobs.ts';
import { storeJobs, type StoredJob, untilStored } from '../jobs/store-jobs.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import type { Database } from '../schema/tables.ts';
import { storeOtherDeliveries } from './store-other-deliveries.ts';

/** One verified delivery. */
export interface DeliveryToRecord {
  readonly guid: string;
  /** The App whose secret signed it. */
  readonly appId: number;
  readonly parsed: ParsedDelivery;
  /** The whole body, JSON that JSONB can hold, as text or its UTF-8. */
  readonly payload: string | Buffer;
  readonly payloadRepaired: boolean;
  /** Distinguishes it from every other delivery without its headers (`bodyDigest`). */
  readonly bodyDigest: string;
  /** The body to store if no pool serves the job. */
  readonly reduced?: () => string;
}

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
  return untilStored(async (attempt) => {
    // A person waits for a queued job, which mostly comes alone: the statement that writes it is
    // its transaction.
    if (attempt === 1 && isQueuedAlone(batch)) return (await store(db, batch, pools, [])).outcomes;
    return db.transaction().execute(async (trx) => {
      // Deliveries about entities are rare: they lock installations and pin all logins first, in
      // one order for all.
      const refused = batch.some(isAboutEntity)
        ? await pinLogins(trx, batch.flatMap(entityOf))
        : new Set<number>();
      const others = batch.filter(({ parsed }) => parsed.kind !== 'job');
      const results = await storeOtherDeliveries(trx, others, { pools, refused });
      const { outcomes, stored } = await store(trx, batch, pools, results);
      await bindRunners(trx, stored, pools);
      return outcomes;
    });
  });
}

const isQueuedAlone = ([first, ...more]: readonly DeliveryToRecord[]): boolean =>
  more.length === 0 && first?.parsed.kind === 'job' && first.parsed.job.runnerName === null;

/** What became of a delivery. */
interface Result {
  readonly outcome: Outcome;
  /** Its event is to be stored. */
  readonly leavesRow: boolean;
  /** The place of its job. */
  readonly place?: PlacedJob | IgnoredJob;
}

/** Stores the jobs of a batch, and the events of all its deliveries; `others` have results already. */
async function store(
  db: Kysely<Database>,
  batch: readonly DeliveryToRecord[],
  { document, version }: CurrentPools,
  others: readonly Result[],
): Promise<{ outcomes: Outcome[]; stored: readonly StoredJob[] }> {
  const jobs = batch.flatMap(({ parsed, appId, guid, bodyDigest }) =>
    parsed.kind === 'job'
      ? [{ ...jobToStore(document, { ...parsed.job, appId, deliveryGuid: guid }), bodyDigest }]
      : [],
  );
  const inOrder = (ofJobs: readonly Result[]) => {
    const results = { ofJobs: ofJobs.values(), others: others.values() };
    return batch.flatMap((delivery) => {
      const { value } = results[delivery.parsed.kind === 'job' ? 'ofJobs' : 'others'].next();
      return value === undefined ? [] : [{ delivery, result: value }];
    });
  };
  const stored = await storeJobs(db, jobs, version, {
    mentions: batch.flatMap(mentionOf),
    eventsOf: (results) =>
      inOrder(results).flatMap(({ delivery, result }) =>
        result.leavesRow ? [eventOf(delivery, result)] : [],
      ),
  });
  return { stored, outcomes: inOrder(stored).map(({ result }) => result.outcome) };
}

/**
 * The delivery writes installations outside of the statements for jobs: an installation, a name, or
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

function mentionOf({ parsed, appId }: DeliveryToRecord): InstallationMention[] {
  if (parsed.kind !== 'job' || parsed.job.installationId === null) return [];
  const { entity, installationId, completedAt, startedAt, queuedAt } = parsed.job;
  return [{ appId, entity, installationId, statedAt: completedAt ?? startedAt ?? queuedAt }];
}

/** A repeated body is stored already. Of a job that no pool serves, a part is enough. */
function eventOf(delivery: DeliveryToRecord, { outcome, place }: Result): EventToAppend {
  const { parsed, appId, guid, payload, payloadRepaired, bodyDigest, reduced } = delivery;
  const { event, installationId, entity, repoId } = parsed;
  const isServed = !REDUCED.has(outcome) && (place === undefined || !('ignored' in place));
  return {
    source: 'webhook',
    event,
    outcome,
    appId,
    installationId,
    entity,
    repoId,
    jobId: 'job' in parsed ? parsed.job.jobId : null,
    deliveryGuid: guid,
    payload: outcome === 'repeated_body' ? '{}' : ((isServed ? undefined : reduced?.()) ?? payload),
    payloadRepaired,
    bodyDigest,
  };
}

const REDUCED: ReadonlySet<Outcome> = new Set<Outcome>(NOT_SERVED);
