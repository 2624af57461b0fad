import { isoText, LONGEST_FAILURE } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { POD_REFUSED } from '@paddock/domain/matching/failure-classes';
import { tellTrouble } from '@paddock/domain/why/reason-explanations';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instantText } from '../lists/dates.ts';
import { HAS_ENDED_WELL } from './workers.ts';

export const trouble = z.object({
  reason: z.string().describe('Of a failure or a stop, or why pods do not start'),
  sentence: z.string(),
  advice: z.string(),
  workers: z.int(),
  since: instantText,
  lastAt: instantText,
  worker: z.string().nullable().describe('The newest of them'),
  nodes: z.array(z.string()),
});

type Row = Omit<z.output<typeof trouble>, 'sentence' | 'advice'> & {
  readonly place: string;
  readonly message: string | null;
};

/** More would be an outage, which fewer show as well. */
const MOST = 5_000;

/** SQL: one cause has one text: it leaves out the names of pods. */
const messageIn = (text: string) =>
  sql`regexp_replace(left(${sql.raw(text)}, ${LONGEST_FAILURE}), '\\mpdk-[a-z0-9-]+', '…', 'g')`;
const SAID = messageIn(`failure_info ->> 'message'`);

/**
 * What went wrong with the workers for which `fits` holds, by pool or node, the latest first: those
 * whose pods do not start, those that were made in the last day and failed, and pods that the
 * cluster refuses.
 */
export async function findTroubles(db: Db, by: 'k8s_pool' | 'k8s_node', fits: RawBuilder<unknown>) {
  const rows = await rowsOf<Row>(db)`
    with found as materialized (
      select k8s_pool, k8s_node, pod_name, stuck_reason as reason, ${SAID} as message, stuck_at as at
      from workers where ${LIVE} and stuck_reason is not null and stuck_at is not null and ${fits}
      union all
      (select k8s_pool, k8s_node, pod_name, coalesce(stop_reason, 'unknown'), ${SAID}, completed_at from workers
        where completed_at is not null and status = 'failed' and not ${HAS_ENDED_WELL} and created_at > now() - interval '1 day' and ${fits}
        order by created_at desc limit ${MOST})
      union all
      select k8s_pool, null, null, failure_class, ${messageIn('failure_message')}, coalesce(case n when 1 then failing_since else failed_at end, now())
      from (select *, null as k8s_node from demand_keys) k, generate_series(1, failures) n where failure_class = ${POD_REFUSED} and ${fits}
    )
    select place, reason, message, workers, ${isoText('since')} as since, ${isoText('last_at')} as "lastAt", worker, nodes from (
      select ${sql.ref(by)} as place, reason, message, count(*) as workers, min(at) as since, max(at) as last_at,
        (array_agg(pod_name order by at desc))[1] as worker, coalesce(array_agg(distinct k8s_node) filter (where k8s_node is not null), '{}') as nodes
      from found where ${sql.ref(by)} is not null group by 1, 2, 3
    ) each order by last_at desc, reason`;
  return rows.map(({ message, ...row }) =>
    Object.assign(row, tellTrouble({ reason: row.reason, workers: row.workers, message })),
  );
}

/** More would be a list to look through: whoever wants another node names it in a list of workers. */
const MOST_NODES = 500;

const node = z.object({
  node: z.string(),
  workers: z.int().describe('Those that live'),
  busy: z.int().describe('Those of them that have a job'),
  troubles: z.array(trouble).describe('What went wrong with workers there in the last day'),
});

export const listNodesEndpoint = endpoint({
  name: 'listNodes',
  path: '/api/v1/nodes',
  summary: `Lists the nodes where workers live or had trouble in the last day, by what their pods say: those with the latest trouble first, at most ${MOST_NODES}.`,
  input: z.object({}),
  output: z.object({ items: z.array(node) }),
  async answer({ db }) {
    const rows = await rowsOf<Omit<z.output<typeof node>, 'troubles'>>(db)`
      select k8s_node as node, count(*) as workers, count(assigned_at) as busy from workers where ${LIVE} and k8s_node is not null
      group by 1 order by 1`;
    const live = new Map(rows.map((row) => [row.node, row]));
    const troubles = Map.groupBy(
      await findTroubles(db, 'k8s_node', sql`true`),
      ({ place }) => place,
    );
    const names = [...new Set([...troubles.keys(), ...live.keys()])].slice(0, MOST_NODES);
    const items = names.map((name) => {
      const { workers = 0, busy = 0 } = live.get(name) ?? {};
      return { node: name, workers, busy, troubles: troubles.get(name) ?? [] };
    });
    return { items };
  },
});
