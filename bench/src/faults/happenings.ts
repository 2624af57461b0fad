import { setTimeout as sleep } from 'node:timers/promises';
import { saysAway } from '@paddock/db/connection/errors';
import { sql } from 'kysely';
import type { Environment } from '../stage/environment.ts';
import type { Service } from '../stage/service.ts';
import type { Stage } from '../stage/stage.ts';
import { readSigns } from './signs.ts';
import { until } from './strikes.ts';

/** The entity has all the workers that it may have, or all jobs have run. */
export const untilFull = (stage: Stage): Promise<void> =>
  until(async () => {
    const { jobs, completed } = await stage.github.report();
    return completed === jobs || (await readSigns(stage)).environmentsAtCap > 0;
  }, 'The first jobs have neither run nor filled the cap of their entity.');

/** An App's or an installation's. A database that is away, as beside other faults, shows none. */
export const hasStoredWait = ({ db }: Environment): Promise<boolean> =>
  sql`
    select from apps where wait_until > now()
    union all
    select from installations where greatest(wait_until, core_wait_until, registrations_reset_at) > now()`
    .execute(db)
    .then(
      ({ rows }) => rows.length > 0,
      (error: unknown) => {
        if (saysAway(error)) return false;
        throw error;
      },
    );

/** A repository's refusal, and no other. */
export async function isRefusalStored({ environments }: Stage): Promise<void> {
  let held: string[] = [];
  await until(async () => {
    held = (await Promise.all(environments.map(heldBack))).flat();
    return held.length > 0;
  }, 'No refusal is stored although GitHub refuses a repository.');
  const others = held.filter((type) => type !== 'repository');
  if (others.length > 0)
    throw new Error(`Held back because a repository refuses us: ${others.join(', ')}`);
}

async function heldBack({ db }: Environment): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select service as type from outages
    union all select 'key' from demand_keys where pauses > 0
    union all select 'repository' from repositories where refused_since is not null
    union all select 'installation' from installations where refused_since is not null
    union all select 'app' from apps where refused_since is not null`.execute(db);
  return rows.map(({ type }) => type);
}

/**
 * A service says after 3 s that it is not ready. Statements are given up after 35 s: a service that
 * says so only then does not watch PostgreSQL.
 */
const COMPLAIN_WITHIN_MS = 25_000;

export const untilComplained = ({ name, untilUnready }: Service): Promise<void> =>
  Promise.race([
    untilUnready(),
    sleep(COMPLAIN_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(
        `The ${name} has called itself ready for ${COMPLAIN_WITHIN_MS / 1_000} s without PostgreSQL.`,
      );
    }),
  ]);
