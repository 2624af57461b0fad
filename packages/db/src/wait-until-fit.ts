import { pause } from '@paddock/runtime/pause';
import { type Kysely, sql } from 'kysely';
import { whyUnfit } from './schema-version.ts';
import type { Database } from './tables.ts';

/** Why a service cannot work now, as a sentence, or undefined if it can: PostgreSQL is away, takes no
 * writes, or its schema is too old (A10). Never throws. */
export async function whyNotReady(db: Kysely<Database>, schema: string): Promise<string | undefined> {
  try {
    return (
      (await whyUnfit(db, schema)) ??
      ((await isReadOnly(db)) ? 'PostgreSQL takes no writes: it is a standby, or set to read-only' : undefined)
    );
  } catch (error) {
    return `PostgreSQL cannot be asked: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function isReadOnly(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ setting: string }>`select current_setting('transaction_read_only') as setting`.execute(db);
  return rows[0]?.setting === 'on';
}

export interface WaitOptions {
  readonly db: Kysely<Database>;
  readonly schema: string;
  readonly pollMs: number;
  /** Told of each new reason once. */
  readonly onUnfit: (reason: string) => void;
}

/** Resolves once the service can work, or the signal aborts: a service starts while PostgreSQL is away and becomes ready by itself. */
export async function waitUntilFit({ db, schema, pollMs, onUnfit }: WaitOptions, signal: AbortSignal): Promise<void> {
  let told: string | undefined;
  while (!signal.aborted) {
    const reason = await whyNotReady(db, schema);
    if (reason === undefined) return;
    if (reason !== told) onUnfit(reason);
    told = reason;
    await pause(pollMs, signal);
  }
}
