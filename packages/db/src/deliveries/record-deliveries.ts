import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';
import type { NamedEntity } from '@paddock/domain/pools/entities';
import {
  type IgnoredJob,
  NOT_SERVED,
  type PlacedJob,
  placeJob,
} from '@paddock/domain/pools/place-job';
import {
  type InstallationMention,
  noteInstallations,
  noteOtherRepositories,
  pinLogins,
  storeInstallations,
} from '../entities/installations.ts';
import type { EventToAppend } from '../events/append-events.ts';
import { compareBodies, type GivenBody, type KnownBody } from '../events/replays.ts';
import { type JobToStore, jobToStore } from '../jobs/read-jobs.ts';
import { bindRunners } from '../jobs/record-jobs.ts';
import { type StoredJob, storeJobs, storeJobsAtOnce, untilStored } from '../jobs/store-jobs.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { endRefusalsOfRepositories } from '../entities/refusals.ts';

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
 * Most jobs that are stored without a transaction around it. That saves a batch three round trips,
 * which a large one shares among many; and the larger it is, the likelier another writer changes one
 * of its jobs meanwhile, and all of it is stored again.
 */
const MOST_AT_ONCE = 16;

/**
 * Stores a batch of deliveries, all or none: jobs, the workers bound to them,
 * installations, and one event per delivery. A repeated body leaves a limited number of events.
 * Returns the outcomes in the order of the batch.
 */
export async function recordDeliveries(
  db: Db,
  batch: readonly DeliveryToRecord[],
  pools: CurrentPools,
): Promise<readonly Outcome[]> {
  const jobs = jobsOf(batch, pools);
  if (jobs.length === batch.length && jobs.length <= MOST_AT_ONCE) {
    const stored = await storeJobsAtOnce(db, jobs, pools.version, (results) =>
      batch.flatMap((delivery, nth) => {
        const result = results[nth];
        return result?.leavesRow === true ? [eventOf(delivery, result)] : [];
      }),
    );
    if (stored !== undefined) return stored.map(({ outcome }) => outcome);
  }
  return untilStored(() =>
    db.transaction().execute(async (trx) => {
      const { outcomes, stored } = await store(trx, batch, jobs, pools);
      await bindRunners(trx, stored, pools);
      return outcomes;
    }),
  );
}

/** Stores all of a batch but the workers' bindings. */
async function store(
  trx: Trx,
  batch: readonly DeliveryToRecord[],
  jobs: readonly JobToStore[],
  pools: CurrentPools,
): Promise<{ outcomes: Outcome[]; stored: readonly StoredJob[] }> {
  // Deliveries about entities are rare: they lock installations and pin all logins first, in one
  // order for all.
  const refused = batch.some(isAboutEntity)
    ? await pinLogins(trx, batch.flatMap(entityOf))
    : new Set<number>();
  const others = await storeOtherDeliveries(
    trx,
    batch.filter(({ parsed }) => parsed.kind !== 'job'),
    { pools, refused },
  );
  const inOrder = (ofJobs: readonly Result[]) => {
    const results = { ofJobs: ofJobs.values(), others: others.values() };
    return batch.flatMap((delivery) => {
      const { value } = results[delivery.parsed.kind === 'job' ? 'ofJobs' : 'others'].next();
      return value === undefined ? [] : [{ delivery, result: value }];
    });
  };
  const stored = await storeJobs(trx, jobs, pools.version, {
    mentions: batch.flatMap(mentionOf),
    eventsOf: (results) =>
      inOrder(results).flatMap(({ delivery, result }) =>
        result.leavesRow ? [eventOf(delivery, result)] : [],
      ),
  });
  return { stored, outcomes: inOrder(stored).map(({ result }) => result.outcome) };
}

/** The result of a delivery. */
interface Result {
  readonly outcome: Outcome;
  /** Its event is to be stored. */
  readonly leavesRow: boolean;
  /** The place of its job. */
  readonly place?: PlacedJob | IgnoredJob;
}

const jobsOf = (batch: readonly DeliveryToRecord[], { document }: CurrentPools): JobToStore[] =>
  batch.flatMap(({ parsed, appId, guid, bodyDigest }) =>
    parsed.kind === 'job'
      ? [{ ...jobToStore(document, { ...parsed.job, appId, deliveryGuid: guid }), bodyDigest }]
      : [],
  );

/** The delivery writes installations apart from the statements for jobs. */
const isAboutEntity = ({ parsed }: DeliveryToRecord): boolean =>
  parsed.kind !== 'job' && parsed.kind !== 'noted';

/** The delivery's entity, unless it lost the App: it may have lost its name since. */
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

/** What deliveries are judged by. */
interface Judging {
  readonly pools: CurrentPools;
  /** The ids of entities whose login belongs to another one. */
  readonly refused: ReadonlySet<number>;
}

/**
 * Stores what deliveries say that state no facts of a job, except for their events. Returns the
 * result of each, in order.
 */
async function storeOtherDeliveries(
  trx: Trx,
  batch: readonly GivenBody[],
  judging: Judging,
): Promise<{ outcome: Outcome; leavesRow: boolean }[]> {
  if (batch.length === 0) return [];
  const bodies = await compareBodies(trx, batch);
  const judged = batch.flatMap((delivery, nth): JudgedBody[] => {
    const body = bodies[nth];
    return body === undefined ? [] : [{ ...body, delivery }];
  });
  // A repeated delivery may be outdated.
  const news = judged.filter(({ isKnown }) => !isKnown).map(({ delivery }) => delivery);
  await storeInstallations(
    trx,
    news.flatMap(({ parsed, appId }) =>
      parsed.kind === 'installation' ? [{ ...parsed.statement, appId }] : [],
    ),
  );
  await noteOtherRepositories(trx, judged.flatMap(withOtherRepositories));
  await endRefusalsOfRepositories(
    trx,
    news.flatMap(({ parsed: { event, repoId } }) =>
      event.startsWith('repository.') && repoId !== null ? [repoId] : [],
    ),
  );
  await noteInstallations(trx, news.flatMap(mentionInPassing));
  return judged.map((body) => ({
    outcome: outcomeOf(body, judging),
    leavesRow: body.leavesRow,
  }));
}

/** A delivery with what is known of its body. */
interface JudgedBody extends KnownBody {
  readonly delivery: GivenBody;
}

/**
 * The installation of a delivery that gives or takes repositories. It states nothing newer of the
 * installation itself, and the next one may have the same body. A replay has that body too, so
 * nothing else is read from it, and only as often as the body leaves events.
 */
function withOtherRepositories({ delivery, isKnown, isRepeated, leavesRow }: JudgedBody) {
  const { parsed, appId } = delivery;
  if (parsed.kind !== 'installation' || !parsed.event.startsWith('installation_repositories.'))
    return [];
  return !isKnown || (isRepeated && leavesRow) ? [{ ...parsed.statement, appId }] : [];
}

function mentionInPassing({ parsed, appId }: GivenBody): InstallationMention[] {
  if (parsed.kind === 'entity_name') return [{ appId, ...parsed.name, isRename: true }];
  if (parsed.kind !== 'waiting_job') return [];
  const { entity, installationId, queuedAt } = parsed.job;
  return installationId === null ? [] : [{ appId, entity, installationId, statedAt: queuedAt }];
}

function outcomeOf(
  { delivery: { parsed }, isRepeated, isKnown }: JudgedBody,
  { pools: { document }, refused }: Judging,
): Outcome {
  if (isRepeated) return 'repeated_body';
  const isRefused = parsed.entity !== null && refused.has(parsed.entity.id);
  switch (parsed.kind) {
    case 'waiting_job': {
      const decision = placeJob(document, parsed.job);
      if ('ignored' in decision) return decision.ignored;
      if (isRefused) return 'refused_entity';
      return isKnown ? 'duplicate_delivery' : 'job_waiting';
    }
    case 'noted':
      return isKnown && parsed.outcome === 'ok' ? 'duplicate_delivery' : parsed.outcome;
    case 'installation':
    case 'entity_name':
      if (isRefused) return 'refused_entity';
      return isKnown ? 'duplicate_delivery' : 'ok';
    case 'job':
      throw new Error('A delivery that states something of a job is stored with the job.');
    default:
      return parsed satisfies never;
  }
}
