import { pause } from '@paddock/runtime/pause';
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import { whyPooled } from './pooling-proxy.ts';
import { whyUnfit } from '../schema-version.ts';
import type { Database } from '../schema/tables.ts';

export interface FitnessOptions {
  readonly db: Kysely<Database>;
  readonly schema: string;
  /** What connections are opened with, to try the way to PostgreSQL. */
  readonly config: pg.ClientConfig;
}

/** Says why the service cannot work now, as a sentence, or undefined if it can. Never throws. */
export type WhyNotReady = () => Promise<string | undefined>;

/**
 * Looks whether PostgreSQL is there, takes writes, and has a schema that is new enough (A10); and once, when it is first there, that no
 * proxy on the way takes our sessions apart (A11).
 */
export function createFitness({ db, schema, config }: FitnessOptions): WhyNotReady {
  let hasSessions = false;
  return async () => {
    try {
      if (!hasSessions) {
        const pooled = await whyPooled(config, schema);
        if (pooled !== undefined) return pooled;
        hasSessions = true;
      }
      return (
        (await whyUnfit(db, schema)) ??
        ((await isReadOnly(db)) ? 'PostgreSQL takes no writes: it is a standby, or set to read-only' : undefined)
      );
    } catch (error) {
      return `PostgreSQL cannot be asked: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
}

async function isReadOnly(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ setting: string }>`select current_setting('transaction_read_only') as setting`.execute(db);
  return rows[0]?.setting === 'on';
}

export interface WaitOptions {
  readonly whyNotReady: WhyNotReady;
  readonly pollMs: number;
  /** Told of each new reason once. */
  readonly onUnfit: (reason: string) => void;
}

/** Resolves once the service can work, or the signal aborts: a service starts while PostgreSQL is away and becomes ready by itself. */
export async function waitUntilFit({ whyNotReady, pollMs, onUnfit }: WaitOptions, signal: AbortSignal): Promise<void> {
  let told: string | undefined;
  while (!signal.aborted) {
    const reason = await whyNotReady();
    if (reason === undefined) return;
    if (reason !== told) onUnfit(reason);
    told = reason;
    await pause(pollMs, signal);
  }
}
