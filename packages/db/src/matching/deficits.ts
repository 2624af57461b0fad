import { sql } from 'kysely';
import { UNASSIGNED, UNEXPLAINED } from '../states/worker-states.ts';

/**
 * `deficits`: per key with waiting jobs or unassigned workers, how many there are of each, and of
 * unexplained ends. A runner that ended well without a known job has surely run one of the jobs, so
 * it counts as supply for a while.
 *
 * Three counts from indexes alone, so the cost depends only on the waiting jobs and the unassigned
 * workers. They are fully joined, which PostgreSQL can only merge or hash. A left join planned
 * without waiting jobs would count all workers anew for each key.
 */
export const deficits = sql`
  deficits as (
    select demand_key, coalesce(w.waiting, 0) as waiting, coalesce(s.unassigned, 0) as unassigned, coalesce(u.ends, 0) as unexplained
    from (select demand_key, count(*) as waiting from jobs where wants_worker group by demand_key) w
    full join (
      select demand_key, count(*) as unassigned from workers
      where ${UNASSIGNED} group by demand_key
    ) s using (demand_key)
    full join (
      select demand_key, count(*) as ends from workers
      where ${UNEXPLAINED} group by demand_key
    ) u using (demand_key)
  )`;
