import { rowsOf } from '../rows.ts';
import { IS_ASSIGNED, isLive } from '../states/states.ts';
import type { Db } from '../schema/tables.ts';

/** GitHub's answer about a worker's runner. */
interface RunnerReading {
  podName: string;
  /** Null: a complete list did not have it. */
  runnerId: number | null;
  isOnline: boolean;
  isBusy: boolean;
}

/** A worker's reading, if GitHub lists its runner like this; undefined: a complete list lacks it. */
export const readingOf = (
  podName: string,
  runner: { readonly id: number; readonly online: boolean; readonly busy: boolean } | undefined,
): RunnerReading => ({
  podName,
  runnerId: runner?.id ?? null,
  isOnline: runner?.online ?? false,
  isBusy: runner?.busy ?? false,
});

/** The sum of all readings. */
export interface ReadRunner {
  podName: string;
  wasOnline: boolean;
  /** A job is known to run on its worker. */
  isAssigned: boolean;
  idleForMs: number | null;
  offlineForMs: number | null;
}

/**
 * Stores readings of live workers' runners. A busy runner makes its worker assigned, with an
 * unknown job: GitHub never calls an idle runner busy, but calls a busy one idle for minutes. An
 * adopted worker gets its runner's id. Returns the state of each worker that is still live.
 */
export async function saveRunnerReadings(
  db: Db,
  readings: readonly RunnerReading[],
): Promise<ReadRunner[]> {
  if (readings.length === 0) return [];
  return rowsOf<ReadRunner>(db)`
    with reading as (
      select * from jsonb_to_recordset(${JSON.stringify(readings)}::jsonb) as given("podName" text, "runnerId" bigint, "isOnline" boolean, "isBusy" boolean)
    ), locked as (
      select r.* from workers w join reading r on r."podName" = w.pod_name
      where ${isLive('w')} order by w.pod_name for no key update of w
    )
    update workers w set runner_checked_at = now(), runner_id = coalesce(w.runner_id, l."runnerId"),
      online_seen_at = case when l."isOnline" or l."isBusy" then now() else w.online_seen_at end,
      idle_since = case when l."runnerId" is not null and not l."isBusy" then coalesce(w.idle_since, now()) end,
      offline_since = case when l."runnerId" is not null and not l."isOnline" then coalesce(w.offline_since, now()) end,
      assigned_at = case when l."isBusy" then coalesce(w.assigned_at, now()) else w.assigned_at end
    from locked l where w.pod_name = l."podName" and ${isLive('w')}
    returning w.pod_name as "podName", w.online_seen_at is not null as "wasOnline", ${IS_ASSIGNED} as "isAssigned",
      extract(epoch from now() - w.idle_since)::float8 * 1000 as "idleForMs",
      extract(epoch from now() - w.offline_since)::float8 * 1000 as "offlineForMs"`;
}

/** A workflow run with pending jobs. */
export interface FittingRun {
  runId: number;
  repoId: number;
  repoFullName: string;
  /** The ids of these jobs. */
  jobIds: number[];
}

/**
 * The runs whose pending or waiting jobs GitHub may have given to this worker: in its scope, with
 * no label that it was not registered with. The newest come first, of those older than
 * `readFrom` if it is given; one more than `limit` means that there are more.
 */
export const findFittingRuns = (
  db: Db,
  podName: string,
  { limit, readFrom }: { limit: number; readFrom: number | null },
) =>
  rowsOf<FittingRun>(db)`
    select j.run_id as "runId", max(j.repo_id) as "repoId", max(j.repo_full_name) as "repoFullName", json_agg(j.job_id order by j.job_id) as "jobIds"
    from workers w join jobs j on j.entity_id = w.entity_id
      -- Jobs that we failed and GitHub queues again are demand too. Two selects, because each has
      -- its own index.
      and j.job_id in (
        select job_id from jobs where entity_id = w.entity_id and status = 'pending' union all select job_id from jobs where wants_worker)
      and (w.scope_repo_id = 0 or j.repo_id = w.scope_repo_id)
      and (w.registered_labels is null or j.job_labels <@ w.registered_labels)
    where w.pod_name = ${podName} and (${readFrom}::bigint is null or j.run_id < ${readFrom}::bigint)
    group by j.run_id order by j.run_id desc limit ${limit + 1}`;
