import { sql } from 'kysely';
import { installationToday, loginToday, mayAsk } from '../entities/whom-to-ask.ts';
import { rowsOf } from '../rows.ts';
import type { Db, EntityType, Trx } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';
import { isUnended, LIVE } from '../states/states.ts';
import { jsonText } from '@paddock/domain/text/storable';
import { DOCUMENT_IN_FORCE } from '../pools/pools-documents.ts';

/** A scope where our workers registered lately, by today's names. */
export interface KnownScope {
  entityId: number;
  entityType: EntityType;
  /** 0: the organisation. */
  scopeRepoId: number;
  login: string;
  appId: number;
  installationId: number;
}

export interface KnownScopesQuery {
  /** Only scopes for which a worker was made within this time, in milliseconds. */
  madeWithinMs: number;
  /** The Apps that are configured here. */
  appIds: readonly number[];
}

/**
 * The scopes that may have our registrations, without entities on which no App may be used, and
 * without what GitHub refused us lately.
 */
export const findKnownScopes = (db: Db, { madeWithinMs, appIds }: KnownScopesQuery) =>
  rowsOf<KnownScope>(db)`
    select w.entity_id as "entityId", w.entity_type as "entityType", w.scope_repo_id as "scopeRepoId",
      ${loginToday('w')} as login, i.app_id as "appId", i.installation_id as "installationId"
    from (
      select distinct on (entity_id, scope_repo_id) entity_id, entity_type, scope_repo_id, entity_name, app_id, installation_id
      from workers where created_at > now() - ${milliseconds(madeWithinMs)}
      order by entity_id, scope_repo_id, created_at desc) w
    ${installationToday('w', appIds)}
    where ${mayAsk('w', 'w.scope_repo_id')}
    order by w.entity_id, w.scope_repo_id`;

/** The worker that a registration was made for. */
export interface NamedWorker {
  name: string;
  isLive: boolean;
  namespace: string;
}

/** The workers of these names, by name. */
export async function findWorkersByName(
  db: Db,
  names: readonly string[],
): Promise<Map<string, NamedWorker>> {
  const rows = await db
    .selectFrom('workers')
    .select(['pod_name as name', LIVE.as('isLive'), 'namespace'])
    .where('pod_name', '=', sql<string>`any(${names})`)
    .execute();
  return new Map(rows.map((worker) => [worker.name, worker]));
}

/** A pod of ours without a row, as it describes itself. Null: it does not say. */
export interface PodToAdopt {
  podName: string;
  podUid: string;
  podCreatedAt: Date;
  namespace: string;
  pool: string;
  image: string | null;
  entityId: number;
  scopeRepoId: number;
  madeForJobId: number | null;
  deliveryGuid: string | null;
  entityType: EntityType | null;
  entityName: string | null;
  appId: number | null;
  installationId: number | null;
  repoFullName: string | null;
}

/**
 * Writes rows for pods that have none, as the matcher and provisioning would have left them; the
 * caller records the pods' status afterwards. Leaves rows that exist by now. The database knows an
 * entity better than the pod does; a pod of an entity that neither knows gets no row. A running job
 * on the pod is bound to it; without a job it was made for, it counts as warm. Returns the names of
 * the new rows.
 *
 * The matcher writes a row before provisioning makes its pod, so a pod without a row is never a
 * reservation.
 */
export async function adoptWorkers(trx: Trx, pods: readonly PodToAdopt[]): Promise<string[]> {
  const rows = await rowsOf<{ podName: string }>(trx)`
    with given as (
      -- The cluster's clock may be ahead of PostgreSQL's.
      select *, least(g."podCreatedAt", now()) as "madeAt"
      from jsonb_to_recordset(${jsonText(pods)}::jsonb) as g("podName" text, "podUid" text, "podCreatedAt" timestamptz,
        namespace text, pool text, image text, "entityId" bigint, "scopeRepoId" bigint, "madeForJobId" bigint, "deliveryGuid" text,
        "entityType" text, "entityName" text, "appId" bigint, "installationId" bigint, "repoFullName" text)
    ),
    document as ${DOCUMENT_IN_FORCE}
    insert into workers (pod_name, entity_id, entity_name, entity_type, app_id, installation_id, repo_full_name, scope_repo_id, job_labels,
      made_for_job_id, delivery_guid, k8s_pool, k8s_image, pools_version, namespace, pod_uid, pod_created_at, registration_started_at,
      registered_at, assigned_job_id, assigned_at, created_at, is_warm)
    select g."podName", g."entityId", entity.name, entity.type, entity.app_id, entity.installation_id,
      case when entity.type = 'User' then coalesce(made_for.repo_full_name, g."repoFullName") end, g."scopeRepoId",
      coalesce(made_for.job_labels, p -> 'labels', '[]'), g."madeForJobId", g."deliveryGuid", g.pool, coalesce(g.image, p ->> 'image', ''),
      coalesce(d.version, 0), g.namespace, g."podUid", g."madeAt", g."madeAt", g."madeAt",
      runs.job_id, case when runs.job_id is not null then coalesce(runs.started_at, now()) end, g."madeAt",
      g."madeForJobId" is null
    from given g
    left join document d on true
    left join lateral (select p from jsonb_array_elements(d.content -> 'pools') p where p ->> 'name' = g.pool) pool on true
    left join jobs made_for on made_for.job_id = g."madeForJobId" and made_for.entity_id = g."entityId"
    left join lateral (
      select job_id, started_at from jobs
      where entity_id = g."entityId" and g."scopeRepoId" in (0, repo_id) and ${isUnended('jobs')} and runner_name = g."podName"
      -- First a job that was bound to it: any user may give a runner the same name.
      order by k8s_pod = g."podName" desc nulls last, job_id limit 1) runs on true
    left join lateral (
      select login, entity_type, app_id, installation_id from installations where entity_id = g."entityId"
      order by deleted_at is not null, app_id = g."appId" desc, stated_at desc limit 1) i on true
    cross join lateral (
      select coalesce(i.login, made_for.entity_name, g."entityName") as name,
        coalesce(i.entity_type::text, made_for.entity_type, g."entityType") as type,
        coalesce(i.app_id, made_for.app_id, g."appId") as app_id,
        coalesce(i.installation_id, made_for.installation_id, g."installationId") as installation_id) entity
    where entity.name is not null and entity.type is not null and entity.app_id is not null and entity.installation_id is not null
    order by g."podName"
    on conflict (pod_name) do nothing
    returning pod_name as "podName"`;
  return rows.map(({ podName }) => podName);
}
