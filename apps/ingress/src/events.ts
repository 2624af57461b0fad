import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { Entity } from '@paddock/domain/deliveries/payload-fields';
import type { JobStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { HANDLED_EVENTS } from '@paddock/domain/deliveries/parse-delivery';
import { createSamples, type EventLog, line, tellEvents } from '@paddock/runtime/events';
import type { Metrics } from '@paddock/runtime/metrics';
import type { JobTimes } from './write-deliveries.ts';
import type { BodyBudget } from './read-body.ts';
import type { Gap } from './gaps.ts';

type Held = Readonly<Pick<BodyBudget, 'heldBytes' | 'requests'>>;

/** Why a request was not accepted. A closed set: the metric uses it as a label. */
export type Refusal =
  | 'bad_headers'
  | 'bad_signature'
  | 'bad_body'
  | 'too_large'
  | 'cut_off'
  | 'aborted'
  | 'overloaded'
  | 'too_slow'
  | 'database_unavailable'
  | 'not_ready'
  | 'internal';

const KNOWN: ReadonlySet<string> = new Set(HANDLED_EVENTS);
/**
 * Refusals that any sender can cause, without a signature or with a captured one. The log samples
 * them.
 */
const UNAUTHENTICATED: ReadonlySet<Refusal> = new Set<Refusal>([
  'bad_headers',
  'bad_signature',
  'bad_body',
  'too_large',
  'cut_off',
  'aborted',
  'overloaded',
]);

/** Without `appId` the signature was not checked, so `event` is not trusted. */
export interface Refused {
  readonly guid?: string;
  readonly event?: string;
  readonly appId?: number;
  readonly reason: string;
  readonly error?: unknown;
  /** Separates the causes of one refusal in the log's samples. */
  readonly kind?: string;
}

interface Stored {
  readonly guid: string;
  readonly event: string;
  readonly outcome: Outcome;
  readonly appId: number;
  readonly entity: Entity | null;
  readonly job: JobStatement | null;
  readonly ms: number;
}

const TABLE = {
  poolsInForce: (version: number) => line.info('pools document in force', { version }),
  poolsUnavailable: (error: unknown) => line.warn('pools document could not be read', { error }),
  /** Debug only: the stored row says the same. */
  deliveryStored: ({ guid, event, outcome, appId, job }: Stored) =>
    line.debug('delivery stored', { guid, event, outcome, appId, jobId: job?.jobId }),
  workerMisused: (guid: string, job: JobStatement) =>
    line.warn(
      'a job runs on a worker of a pool that does not serve it: check who may use the runner group',
      { guid, jobId: job.jobId, worker: job.runnerName, repository: job.repoFullName },
    ),
  entityRefused: (guid: string, { id: entityId, login }: Entity) =>
    line.warn(
      'refused an entity: its login is pinned to another entity; if it moved, update login_pins',
      { entityId, login, guid },
    ),
  deliveryRefused: (refusal: Refusal, details: Omit<Refused, 'kind'>) =>
    line[UNAUTHENTICATED.has(refusal) ? 'info' : 'warn']('delivery refused', {
      refusal,
      ...details,
    }),
  batchFailed: (size: number, consequence: 'split' | 'repeated' | 'refused', error: unknown) =>
    line.warn('a batch of deliveries failed', { size, consequence, error }),
  /**
   * Deliveries of the App may have failed before the one just stored. The reconciler reads GitHub's
   * log.
   */
  gapSeen: (appId: number, after: Gap) =>
    line.info('deliveries may have failed before this one: the reconciler reads GitHub’s log', {
      appId,
      after,
    }),
  heldJobsNotRead: (details: { readonly error: unknown }) =>
    line.warn('could not read whether a limit held back late jobs: they count as late', details),
  gapNotReported: (error: unknown) =>
    line.warn('could not ask for a pass over GitHub’s log of deliveries; trying again', { error }),
};

export type IngressEvents = ReturnType<typeof createIngressEvents>;

/**
 * Ingress's events. Each function writes the log line of one event and moves its metrics. `held`:
 * the room that deliveries occupy now. `findHeld` returns those of these late jobs that a limit held.
 */
export function createIngressEvents({
  log,
  metrics,
  held: room,
  lateAfterSeconds,
  findHeld,
}: {
  log: EventLog;
  metrics: Metrics;
  held: Held;
  lateAfterSeconds: number;
  findHeld: (jobIds: readonly number[]) => Promise<ReadonlySet<number>>;
}) {
  const events = tellEvents(TABLE, { log, metrics });
  const sample = createSamples();
  metrics.reading('paddock_held_bytes', 'Bodies of deliveries in memory', () => room.heldBytes);
  metrics.reading(
    'paddock_requests_in_flight',
    'Deliveries that are received or wait to be stored',
    () => room.requests,
  );
  const deliveries = metrics.counter(
    'paddock_deliveries_total',
    'Deliveries stored, by event and outcome',
    ['event', 'outcome'],
  );
  const refusals = metrics.counter(
    'paddock_deliveries_refused_total',
    'Requests that were not stored, by reason',
    ['reason'],
  );
  const seconds = metrics.histogram(
    'paddock_delivery_seconds',
    'From the first byte of a delivery to its answer',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  );
  const newest = metrics.gauge(
    'paddock_newest_verified_delivery_timestamp_seconds',
    'When the newest verified delivery of an App arrived here, unless its body was stored before or cannot be used: take the max over the replicas; its age is time() minus that',
    ['app'],
  );
  const queueSeconds = metrics.histogram(
    'paddock_job_queue_seconds',
    'How long jobs waited from being queued to their start, by GitHub’s instants in deliveries, by pool; `limit` held back those that waited over a minute and for a limit of people',
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800],
    ['pool', 'held'],
  );
  const runSeconds = metrics.histogram(
    'paddock_job_run_seconds',
    'How long jobs ran, by GitHub’s instants in deliveries, by pool',
    [10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600],
    ['pool'],
  );
  const batchSeconds = metrics.histogram(
    'paddock_delivery_batch_seconds',
    'Duration of one transaction of deliveries',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  );

  return {
    ...events,
    /**
     * Only GitHub can have sent this delivery: its signature is right, and its body was not stored
     * before.
     */
    verified: (appId: number) => newest.set({ app: String(appId) }, Date.now() / 1000),
    stored(delivery: Stored) {
      const { guid, event, outcome, entity, job, ms } = delivery;
      const name = event.split('.', 1)[0] ?? event;
      deliveries.inc({ event: KNOWN.has(name) ? name : 'other', outcome });
      seconds.observe(ms / 1000);
      events.deliveryStored(delivery);
      if (outcome === 'worker_misused' && job !== null) events.workerMisused(guid, job);
      // Any number of entities may install the App.
      if (outcome !== 'refused_entity' || entity === null || sample(outcome) === undefined) return;
      events.entityRefused(guid, entity);
    },
    /**
     * For requests that any sender can make, the log has one line a minute for each `kind`, with how
     * many were left out.
     */
    refused(refusal: Refusal, { kind = '', ...details }: Refused) {
      refusals.inc({ reason: refusal });
      const sampled = UNAUTHENTICATED.has(refusal) ? sample(`${refusal} ${kind}`) : {};
      if (sampled !== undefined) events.deliveryRefused(refusal, { ...details, ...sampled });
    },
    /** Stored deliveries say how long their jobs waited or ran. */
    async jobsMoved(all: readonly JobTimes[]) {
      const late = all.filter((times) => (times.queueSeconds ?? 0) > lateAfterSeconds);
      const held = await findHeld(late.map(({ jobId }) => jobId)).catch((error: unknown) => {
        const sampled = sample('held jobs');
        if (sampled !== undefined) events.heldJobsNotRead({ error, ...sampled });
        return new Set();
      });
      for (const times of all) {
        const { jobId, pool } = times;
        const by = held.has(jobId) ? 'limit' : 'no';
        if (times.queueSeconds !== undefined)
          queueSeconds.observe({ pool, held: by }, times.queueSeconds);
        if (times.runSeconds !== undefined) runSeconds.observe({ pool }, times.runSeconds);
      }
    },
    batchWritten: (ms: number) => batchSeconds.observe(ms / 1000),
  };
}
