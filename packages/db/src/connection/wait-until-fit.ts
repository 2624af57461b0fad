import { pause } from '@paddock/runtime/pause';
import { type Kysely, sql } from 'kysely';
import type { ConnectionConfig } from './connect.ts';
import { whyPooled } from './pooling-proxy.ts';
import { whyUnfit } from '../schema-version.ts';
import type { Database } from '../schema/tables.ts';

export interface FitnessOptions {
  readonly db: Kysely<Database>;
  readonly schema: string;
  /** What connections are opened with, to try the way to PostgreSQL. */
  readonly config: ConnectionConfig;
  /** Longest time for PostgreSQL to answer, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Says why the service cannot work now, as a sentence, or undefined if it can. Never throws. */
export type WhyNotReady = () => Promise<string | undefined>;

/** A kubelet's patience with a probe, and less than anybody waits at a terminal. */
const TIMEOUT_MS = 3_000;

/**
 * Looks whether PostgreSQL is there, takes writes, and has a schema that is new enough; and once,
 * when it is first there, that no proxy on the way takes our sessions apart. However many ask,
 * PostgreSQL is asked one question at a time.
 */
export function createFitness({ db, schema, config, timeoutMs = TIMEOUT_MS }: FitnessOptions): WhyNotReady {
  let hasSessions = false;
  let asked: Promise<string | undefined> | undefined;

  async function ask(): Promise<string | undefined> {
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
  }

  return async () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    const answered = new AbortController();
    const silence = pause(timeoutMs, answered.signal).then(() => `PostgreSQL cannot be asked: it has not answered for ${timeoutMs} ms`);
    const reason = await Promise.race([asked, silence]);
    answered.abort();
    return reason;
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

/**
 * Resolves once the service can work, or the signal aborts: a service starts while PostgreSQL is
 * away and becomes ready by itself.
 */
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
