import { sql } from 'kysely';

/**
 * Per key with waiting jobs or unassigned workers: how many there are of each, and how many more workers it takes (C3). A runner that
 * ended well without a known job has surely run one of them; for a grace it counts as supply.
 *
 * Three counts from indexes alone, two of them in the order of the keys, so the cost is that of what waits and of what is unassigned. They
 * are fully joined although nobody asks for workers without jobs: that can be merged or hashed only, while a left join whose plan was made
 * when nothing waited counts all workers anew for each key.
 */
export const deficits = sql`
  deficits as (
    select demand_key, coalesce(w.waiting, 0) as waiting, coalesce(s.unassigned, 0) as unassigned,
      greatest(coalesce(w.waiting, 0) - coalesce(s.unassigned, 0) - coalesce(u.ends, 0), 0) as lacking
    from (select demand_key, count(*) as waiting from jobs where wants_worker group by demand_key) w
    full join (
      select demand_key, count(*) as unassigned from workers
      where status in ('pending', 'running') and assigned_at is null and stopping_at is null group by demand_key
    ) s using (demand_key)
    full join (
      select demand_key, count(*) as ends from workers
      where unexplained_until is not null and unexplained_until > now() and assigned_at is null group by demand_key
    ) u using (demand_key)
  )`;
