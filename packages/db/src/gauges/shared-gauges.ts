import type { DeclaredGauges, Metrics } from '@paddock/runtime/metrics';
import type { Kysely } from 'kysely';
import { readSharedState } from './read-shared-state.ts';
import { isMigrationNeeded } from '../schema-version.ts';
import type { Database } from '../schema/tables.ts';

/** Gauges of shared rows: every replica of every service reads the same values. */
const SHARED = {
  paddock_jobs_waiting: {
    help: 'Jobs that wait for a runner, by pool and the reason',
    labels: ['pool', 'reason'],
  },
  paddock_oldest_waiting_job_seconds: {
    help: 'How long the longest waiting job of a pool has been known; 0 if none waits',
    labels: ['pool'],
  },
  paddock_oldest_waiting_job_has_idle_worker: {
    help: '1 if GitHub does not give the longest waiting job of a pool to an idle worker that could run it',
    labels: ['pool'],
  },
  paddock_workers: {
    help: 'Workers that have not ended, by pool and state',
    labels: ['pool', 'state'],
  },
  paddock_workers_lacking: {
    help: 'Workers that waiting jobs lack and that are held back, by pool',
    labels: ['pool'],
  },
  paddock_keys_failing: {
    help: 'Demand keys whose workers failed so often that they are paused, or that one of them tries, by pool and failure',
    labels: ['pool', 'reason'],
  },
  paddock_refused: {
    help: 'Apps, installations and repositories that GitHub refuses us, by kind: no call there has succeeded since',
    labels: ['subject'],
  },
  paddock_registration_budget_remaining: {
    help: 'Registrations that GitHub still allows in this hour, by entity of the configuration; the least of its installations',
    labels: ['entity'],
  },
} satisfies DeclaredGauges;

export type SharedGauge = keyof typeof SHARED;

const SCHEMA = {
  paddock_migration_needed: {
    help: '1 while the schema of the database is older than this service: run `pnpm db:migrate`',
  },
} satisfies DeclaredGauges;

/**
 * Declares the gauges. Each scrape reads them; they are absent while PostgreSQL does not answer.
 */
export function declareSharedGauges(metrics: Metrics, db: Kysely<Database>): void {
  metrics.readings(SHARED, () => readSharedState(db));
  // In a separate statement: with an older schema the other one may fail.
  metrics.readings(SCHEMA, async () => [
    { gauge: 'paddock_migration_needed', labels: {}, value: Number(await isMigrationNeeded(db)) },
  ]);
}
