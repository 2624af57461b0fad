import { APP_ID } from '../app-id.ts';
import { type RawBuilder, sql } from 'kysely';

/** The one App, as a literal: PostgreSQL could not infer a parameter's type here. */
export const APP = sql.lit(APP_ID);
export const NAMESPACE = 'runners';
export const POOLS = Array.from({ length: 20 }, (_, index) => `pool-${index}`);

/** The numbers `n` of rows. */
export const numbers = (first: number, count: number): RawBuilder<unknown> =>
  sql`generate_series(${sql.lit(first)}::bigint, ${sql.lit(first + count - 1)}::bigint) n`;

export const ENTITY_COLUMNS = sql`entity_id, entity_name, entity_type, app_id, installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version`;

/** The common columns of job `n` and worker `n`: entities take turns, and each uses two pools. */
export function entity(entities: number): RawBuilder<unknown> {
  const id = sql`n % ${sql.lit(entities)} + 1`;
  const pool = sql`'pool-' || (n % ${sql.lit(entities)} + n / ${sql.lit(entities)} % 2 * 7) % 20`;
  return sql`${id}, 'entity-' || ${id}, 'Organization', ${APP}, ${id}, jsonb_build_array('self-hosted', ${pool}), ${pool}, 'runner:1', 0, 1`;
}

/** Half of the events are of the first entity. */
export const eventEntity = (entities: number): RawBuilder<unknown> =>
  sql`case when n % 2 = 0 then 1 else n / 2 % ${sql.lit(entities)} + 1 end`;

/** Names in an order that does not follow time. */
export const podName = (of: 'ended' | 'living'): RawBuilder<unknown> =>
  sql`'pdk-abc123-' || left(md5(n::text), 12) || ${sql.lit(`-${of}`)}`;
