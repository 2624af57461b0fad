import { HOOKS_VARIABLE, RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import { poolsDocument, type PoolsDocument } from '@paddock/domain/pools/pools-document';
import { sql } from 'kysely';
import type { Db } from '../schema/tables.ts';

export interface CurrentPools {
  readonly version: number;
  readonly document: PoolsDocument;
}

export interface PoolsDocumentToStore {
  readonly content: PoolsDocument;
  /** Of the content; equal digests mean equal documents. */
  readonly digest: string;
  /**
   * The version that the caller's file had before. If another process has stored the same content
   * since, the caller is late: a newer one may be in force, and stays.
   */
  readonly after?: number | undefined;
}

/** SQL: the pools document in force, one row at most; give it an alias. */
export const DOCUMENT_IN_FORCE = sql.raw(
  `(select version, digest, content from pools_documents order by version desc limit 1)`,
);

const inForce = (db: Db) => db.selectFrom('pools_documents').orderBy('version', 'desc').limit(1);

/** SQL for a FROM: each pool in force as `p`, and its `document`. */
export const POOLS_IN_FORCE = sql`${DOCUMENT_IN_FORCE} document cross join jsonb_array_elements(document.content -> 'pools') p`;

/** SQL: whether runners of pool `p` make objects of their own in the cluster; `hasHooks` of it. */
export const HAS_HOOKS = sql.raw<boolean>(
  `coalesce(p -> 'template' @? '$.spec.containers[*] ? (@.name == "${RUNNER_CONTAINER}").env[*] ? (@.name == "${HOOKS_VARIABLE}")', false)`,
);

/**
 * Puts a pools document in force, unless the one in force is equal. Of several processes that load
 * the same document at once, one writes it. Pins the document's logins to the entities known by
 * them. Returns the document's version.
 */
export async function storePoolsDocument(
  db: Db,
  { content, digest, after }: PoolsDocumentToStore,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    // A separate statement: the next one must see what the lock's last holder committed.
    await sql`select pg_advisory_xact_lock((select oid from pg_namespace where nspname = current_schema())::int, 2)`.execute(
      trx,
    );
    const newest = await inForce(trx).select(['version', 'digest']).executeTakeFirst();
    if (newest?.digest === digest) return newest.version;
    const known = trx.selectFrom('pools_documents').select('version').where('digest', '=', digest);
    const since = after === undefined ? sql<boolean>`false` : sql<boolean>`version > ${after}`;
    const late = await known.where(since).orderBy('version', 'desc').limit(1).executeTakeFirst();
    if (late !== undefined) return late.version;
    const { version } = await trx
      .insertInto('pools_documents')
      .values({ digest, content: JSON.stringify(content) })
      .returning('version')
      .executeTakeFirstOrThrow();
    await sql`select pin_known_logins()`.execute(trx);
    return version;
  });
}

/**
 * The document in force; undefined: none was ever loaded. Throws if this version cannot read it.
 */
export async function currentPoolsDocument(db: Db): Promise<CurrentPools | undefined> {
  const row = await inForce(db).select(['version', 'content']).executeTakeFirst();
  if (row === undefined) return undefined;
  const parsed = poolsDocument.safeParse(row.content);
  if (!parsed.success) {
    throw new Error(
      `Version ${row.version} of the pools document in the database cannot be read by this service: upgrade it.`,
      {
        cause: parsed.error,
      },
    );
  }
  return { version: row.version, document: parsed.data };
}
