import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { HANDLED_EVENTS } from '@paddock/domain/deliveries/parse-delivery';
import type { Entity } from '@paddock/domain/deliveries/payload-fields';
import type { JobStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { createSamples, type EventLog, line, tellEvents } from '@paddock/runtime/events';
import type { Metrics } from '@paddock/runtime/metrics';
import type { DeliveryToRecord } from './record-deliveries.ts';
import type { JobTimes } from './store-deliveries.ts';

const KNOWN: ReadonlySet<string> = new Set(HANDLED_EVENTS);

/** What the log says of a delivery. */
export type StoredDelivery = Pick<DeliveryToRecord, 'guid' | 'appId' | 'parsed'>;

const jobOf = ({ parsed }: StoredDelivery) => ('job' in parsed ? parsed.job : null);

const TABLE = {
  /** Debug only: the stored row says the same. */
  deliveryStored: (delivery: StoredDelivery, outcome: Outcome) => {
    const { guid, appId, parsed } = delivery;
    const jobId = jobOf(delivery)?.jobId;
    return line.debug('delivery stored', {
      deliveryGuid: guid,
      event: parsed.event,
      outcome,
      appId,
      jobId,
    });
  },
  workerMisused: (guid: string, job: JobStatement) =>
    line.warn(
      'a job runs on a worker of a pool that does not serve it: check who may use the runner group',
      {
        deliveryGuid: guid,
        jobId: job.jobId,
        worker: job.runnerName,
        repository: job.repoFullName,
      },
    ),
  entityRefused: (guid: string, { id: entityId, login }: Entity) =>
    line.warn(
      'refused an entity: its login is pinned to another entity; if it moved, update login_pins',
      { entityId, login, deliveryGuid: guid },
    ),
  heldJobsNotRead: (details: { readonly error: unknown }) =>
    line.warn('could not read whether a limit held back late jobs: they count as late', details),
};

export interface DeliveryEventsOptions {
  readonly log: EventLog;
  readonly metrics: Metrics;
  readonly lateAfterSeconds: number;
  /** Those of these late jobs that a limit held. */
  readonly findHeld: (jobIds: readonly number[]) => Promise<ReadonlySet<number>>;
}

/** The log lines and metrics of stored deliveries, the same in every service that stores some. */
export function createDeliveryEvents({
  log,
  metrics,
  lateAfterSeconds,
  findHeld,
}: DeliveryEventsOptions) {
  const { workerMisused, entityRefused, heldJobsNotRead, deliveryStored } = tellEvents(TABLE, {
    log,
    metrics,
  });
  const sample = createSamples();
  const deliveries = metrics.counter(
    'paddock_deliveries_total',
    'Deliveries stored, by event and outcome',
    ['event', 'outcome'],
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

  return {
    /**
     * Only GitHub can have sent this delivery: its signature is right, and its body was not stored
     * before.
     */
    verified: (appId: number) => newest.set({ app: String(appId) }, Date.now() / 1000),
    stored(delivery: StoredDelivery, outcome: Outcome) {
      const { guid, parsed } = delivery;
      const { event, entity } = parsed;
      const job = jobOf(delivery);
      const name = event.split('.', 1)[0] ?? event;
      deliveries.inc({ event: KNOWN.has(name) ? name : 'other', outcome });
      deliveryStored(delivery, outcome);
      if (outcome === 'worker_misused' && job !== null) workerMisused(guid, job);
      // Any number of entities may install the App.
      if (outcome !== 'refused_entity' || entity === null || sample(outcome) === undefined) return;
      entityRefused(guid, entity);
    },
    /** Stored deliveries say how long their jobs waited or ran. */
    async jobsMoved(all: readonly JobTimes[]) {
      const late = all.filter((times) => (times.queueSeconds ?? 0) > lateAfterSeconds);
      const held = await findHeld(late.map(({ jobId }) => jobId)).catch((error: unknown) => {
        const sampled = sample('held jobs');
        if (sampled !== undefined) heldJobsNotRead({ error, ...sampled });
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
  };
}
