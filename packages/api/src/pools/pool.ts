import { POOLS_IN_FORCE } from '@paddock/db/pools/pools-documents';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { templateWithKeys } from '@paddock/domain/pools/pod-keys';
import { templateRunner } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { changesOf, linesOf, withoutSecrets } from '@paddock/domain/pools/pool-lines';
import { sql } from 'kysely';
import { stringify } from 'yaml';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { requireKnown } from '../switches/switches.ts';
import { findTroubles, trouble } from '../workers/nodes.ts';

/** How many versions of the file are compared, and how many changes told. */
const MOST = { versions: 100, changes: 10 };

export const findPoolEndpoint = endpoint({
  name: 'findPool',
  path: '/api/v1/pools/{pool}',
  summary:
    'Says what is wrong with a pool: the troubles of its workers, what to do, what changed last, and how it is set.',
  input: z.object({ pool: z.string().min(1).max(200) }),
  output: z.object({
    troubles: z.array(trouble).describe('What went wrong with its workers in the last day'),
    changes: z
      .array(z.object({ version: z.int(), at: instant, lines: z.array(z.string()) }))
      .describe(
        'The last versions of the file that changed it, the newest first: what is gone begins with -, what is new with +',
      ),
    settings: z
      .record(z.string(), z.string())
      .describe('Those in force by their place in the file; none if no file has it'),
    template: z.string().describe('Of its pods, as YAML; what looks like a credential is hidden'),
  }),
  async answer(caller, { pool: name }) {
    const { db } = caller;
    const changes = await findChanges(db, name);
    const troubles = await findTroubles(db, 'k8s_pool', sql`k8s_pool = ${name}`);
    const settings = await readSettings(db, name);
    // One that has left the file has its changes still.
    if (changes.length === 0) await requireKnown(caller, `pool:${name}`);
    return { troubles, changes, ...settings };
  },
});

/** How it is set in force. Its runner’s resources may stand in the template. */
async function readSettings(db: Db, name: string) {
  const rows = await rowsOf<{ pool: Pool }>(db)`
    select p as pool from ${POOLS_IN_FORCE} where p ->> 'name' = ${name}`;
  const [{ pool } = {}] = rows;
  if (pool === undefined) return { settings: {}, template: '' };
  const template = templateWithKeys(pool);
  const { resources } = templateRunner(template) ?? {};
  const shown = withoutSecrets({ ...pool, resources, name: null, template: null });
  const lines = linesOf(shown).toSorted();
  return {
    settings: Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2))),
    template: stringify(withoutSecrets(template), { lineWidth: 0, sortMapEntries: true }),
  };
}

/** The oldest version that is compared has changed nothing, unless it is the first of all. */
async function findChanges(db: Db, name: string) {
  const rows = await rowsOf<{ version: number; at: Date; before: unknown; after: unknown }>(db)`
    with newest as (select * from pools_documents order by version desc limit ${MOST.versions}),
    pair as (
      select version, loaded_at as at, pool as after, lag(pool) over w as before, lag(version) over w as former
      from newest cross join lateral (select (select p from jsonb_array_elements(content -> 'pools') p where p ->> 'name' = ${name}) as pool) one
      window w as (order by version)
    )
    select version, at, before, after from pair
    where before is distinct from after and (former is not null or (select count(*) from newest) < ${MOST.versions})
    order by version desc limit ${MOST.changes}`;
  return rows.map((row) => Object.assign(row, { lines: changesOf(row.before, row.after) }));
}
