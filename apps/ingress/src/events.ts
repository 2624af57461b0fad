import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { Entity } from '@paddock/domain/deliveries/payload-fields';
import type { JobStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { HANDLED_EVENTS } from '@paddock/domain/deliveries/parse-delivery';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { JobTimes } from './job-times.ts';
import type { BodyBudget } from './body-budget.ts';
import type { Gap } from './gaps.ts';
import { createSamples } from './samples.ts';

type Held = Readonly<Pick<BodyBudget, 'heldBytes' | 'requests'>>;

/** Why a request was not accepted: a closed set, for it becomes a label. */
export type Refusal =
  | 'bad_headers'
  | 'bad_signature'
  | 'bad_body'
  | 'too_large'
  | 'body_too_slow'
  | 'cut_off'
  | 'aborted'
  | 'overloaded'
  | 'too_slow'
  | 'database_unavailable'
  | 'not_ready'
  | 'internal';

export interface IngressEvents {
  /** A delivery of the App arrived that nobody but GitHub may have sent: its signature was right, and its body was not stored before. */
  verified(appId: number): void;
  stored(delivery: {
    guid: string;
    event: string;
    outcome: Outcome;
    appId: number;
    entity: Entity | null;
    job: JobStatement | null;
    ms: number;
  }): void;
  /**
   * `event` as the header says it; it is not to be trusted where there is no `appId`, for then the signature was not checked. Of what anybody
   * can send, the log has one line a minute for each `kind` of a refusal, with how many were left out.
   */
  refused(
    refusal: Refusal,
    details: { guid?: string; event?: string; appId?: number; kind?: string; reason: string; error?: unknown },
  ): void;
  /** A stored delivery has told how long its job waited, or ran. */
  jobMoved(times: JobTimes): void;
  batchWritten(size: number, ms: number): void;
  batchFailed(size: number, what: 'split' | 'repeated' | 'refused', error: unknown): void;
  /** Deliveries of the App may have failed before the one just stored, and GitHub's log is looked at for them. */
  gapSeen(appId: number, gap: Gap): void;
  gapNotTold(error: unknown): void;
  connectionsCut(reason: string): void;
  poolsInForce(version: number): void;
  poolsUnavailable(error: unknown): void;
  /** The database cannot be used at the start; told once of each reason. */
  notReady(reason: string): void;
}

const KNOWN: ReadonlySet<string> = new Set(HANDLED_EVENTS);
/** What anybody can make us refuse, with no signature or with one that they have captured: of these the log has samples. */
const ANYBODYS: ReadonlySet<Refusal> = new Set<Refusal>([
  'bad_headers',
  'bad_signature',
  'bad_body',
  'too_large',
  'body_too_slow',
  'cut_off',
  'aborted',
  'overloaded',
]);

/** The most refused entities that a process logs, each once. */
const MOST_TOLD = 1_000;

/** One function per business event: the metric and the log line together. `held` is what deliveries occupy now. */
export function createIngressEvents({ log, metrics, held }: { log: Logger; metrics: Metrics; held: Held }): IngressEvents {
  const sample = createSamples();
  metrics.reading('paddock_held_bytes', 'Bodies of deliveries in memory', () => held.heldBytes);
  metrics.reading('paddock_requests_in_flight', 'Deliveries that are received or wait to be stored', () => held.requests);
  const deliveries = metrics.counter('paddock_deliveries_total', 'Deliveries stored, by event and outcome', ['event', 'outcome']);
  const misused = metrics.counter(
    'paddock_workers_misused_total',
    'Workers that GitHub gave a job that their pool does not serve: of another entity or repository, or of a public one',
  );
  const refusals = metrics.counter('paddock_deliveries_refused_total', 'Requests that were not stored, by reason', ['reason']);
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
    'How long jobs waited from being queued to their start, by GitHub’s instants and as deliveries told it, by pool',
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800],
    ['pool'],
  );
  const runSeconds = metrics.histogram(
    'paddock_job_run_seconds',
    'How long jobs ran, by GitHub’s instants and as deliveries told it, by pool',
    [10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600],
    ['pool'],
  );
  const batchSize = metrics.histogram('paddock_delivery_batch_size', 'Deliveries in one transaction', [1, 2, 5, 10, 20, 50, 100, 200, 500]);
  const batchSeconds = metrics.histogram(
    'paddock_delivery_batch_seconds',
    'Duration of one transaction of deliveries',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  );
  const batchFailures = metrics.counter('paddock_delivery_batch_failures_total', 'Transactions of deliveries that failed', ['consequence']);
  const cuts = metrics.counter(
    'paddock_database_connections_cut_total',
    'Times that connections to PostgreSQL were given up because it had gone silent',
  );
  const poolsVersion = metrics.gauge('paddock_pools_version', 'Version of the pools document in force here');

  // The metric counts each; a stranger may send any number.
  const told = new Set<number>();
  const tellRefused = ({ id, login }: Entity, guid: string): void => {
    if (told.has(id) || told.size >= MOST_TOLD) return;
    told.add(id);
    log.warn('entity refused, its login is pinned to another one: a person decides in login_pins', { entityId: id, login, guid });
  };

  return {
    verified: (appId) => newest.set({ app: String(appId) }, Date.now() / 1000),
    stored: ({ guid, event, outcome, appId, entity, job, ms }) => {
      const name = event.split('.', 1)[0] ?? event;
      deliveries.inc({ event: KNOWN.has(name) ? name : 'other', outcome });
      seconds.observe(ms / 1000);
      if (outcome === 'refused_entity' && entity !== null) tellRefused(entity, guid);
      // The event's row says the same, and stays.
      log.debug('delivery stored', { guid, event, outcome, appId, ...(job === null ? {} : { jobId: job.jobId }) });
      if (outcome !== 'worker_misused' || job === null) return;
      misused.inc();
      const { jobId, runnerName: worker, repoFullName: repository } = job;
      log.warn('a job runs on a worker whose pool does not serve it: see who may use its runner group', {
        guid,
        jobId,
        worker,
        repository,
      });
    },
    refused: (refusal, { kind = '', ...details }) => {
      refusals.inc({ reason: refusal });
      const isAnybodys = ANYBODYS.has(refusal);
      const sampled = isAnybodys ? sample(`${refusal} ${kind}`) : {};
      if (sampled !== undefined) log[isAnybodys ? 'info' : 'warn']('delivery refused', { refusal, ...details, ...sampled });
    },
    jobMoved: (times) => {
      if (times.queueSeconds !== undefined) queueSeconds.observe({ pool: times.pool }, times.queueSeconds);
      if (times.runSeconds !== undefined) runSeconds.observe({ pool: times.pool }, times.runSeconds);
    },
    batchWritten: (size, ms) => {
      batchSize.observe(size);
      batchSeconds.observe(ms / 1000);
    },
    batchFailed: (size, what, error) => {
      batchFailures.inc({ consequence: what });
      log.warn('batch of deliveries failed', { size, consequence: what, error });
    },
    gapSeen: (appId, gap) => log.info('deliveries may have failed before this one: GitHub’s log is looked at', { appId, after: gap }),
    gapNotTold: (error) => log.warn('no look at GitHub’s log of deliveries could be asked for; it is tried again', { error }),
    connectionsCut: (reason) => {
      cuts.inc();
      log.warn('connections to PostgreSQL given up', { reason });
    },
    poolsInForce: (version) => {
      poolsVersion.set(version);
      log.info('pools document in force', { version });
    },
    poolsUnavailable: (error) => log.warn('pools document could not be read', { error }),
    notReady: (reason) => log.warn('not ready', { reason }),
  };
}
