import { type Kysely, sql } from 'kysely';
import { isArrivalOf, type LoggedDelivery } from '../events/installation-events.ts';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/** A delivery without a successful attempt in the log. */
export interface FailedDelivery extends LoggedDelivery {
  /**
   * The newest attempt, the one to repeat. A whole number as text: it does not fit a JavaScript
   * number.
   */
  deliveryId: string;
  firstFailedAt: Date;
  lastFailedAt: Date;
  lastStatusCode: number;
}

/**
 * Remembers failed deliveries; of a known one the newest attempt counts. A new one is due at once.
 * Returns how many were new.
 */
export async function rememberFailedDeliveries(
  db: Kysely<Database>,
  appId: number,
  failed: readonly FailedDelivery[],
): Promise<number> {
  if (failed.length === 0) return 0;
  // Sorted, so that two that write the same rows wait for each other instead of deadlocking.
  const sorted = failed.toSorted((a, b) => (a.guid < b.guid ? -1 : 1));
  const { rows } = await sql<{ isNew: boolean }>`
    insert into unresolved_deliveries as known
      (app_id, guid, delivery_id, event, action, installation_id, repository_id, first_failed_at, last_failed_at, last_status_code)
    select ${appId}, f."guid", f."deliveryId", f."event", f."action", f."installationId", f."repositoryId",
      f."firstFailedAt", f."lastFailedAt", f."lastStatusCode"
    from jsonb_to_recordset(${JSON.stringify(sorted)}::jsonb) as f(
      "guid" text, "deliveryId" bigint, "event" text, "action" text, "installationId" bigint, "repositoryId" bigint,
      "firstFailedAt" timestamptz, "lastFailedAt" timestamptz, "lastStatusCode" integer)
    on conflict (app_id, guid) do update set
      delivery_id = excluded.delivery_id,
      last_status_code = excluded.last_status_code,
      last_failed_at = excluded.last_failed_at,
      first_failed_at = least(excluded.first_failed_at, known.first_failed_at),
      resolved_at = null
      -- The log's times are whole seconds, which two attempts may share: their ids rise.
      where (excluded.last_failed_at, excluded.delivery_id) > (known.last_failed_at, known.delivery_id)
    returning (known.xmax = 0) as "isNew"`.execute(db);
  return rows.filter(({ isNew }) => isNew).length;
}

const UNRESOLVED = {
  guid: 'u.guid',
  event: 'u.event',
  action: 'u.action',
  installationId: 'u.installation_id',
  repositoryId: 'u.repository_id',
};

/**
 * Resolves deliveries that arrived: the log says so (`delivered`) and they were not found missing
 * here, or their row is here. A replay's row counts only for those found missing. Returns how many.
 */
export async function resolveDeliveries(
  db: Kysely<Database>,
  appId: number,
  delivered: readonly string[],
): Promise<number> {
  const { rows } = await sql`
    update unresolved_deliveries u set resolved_at = now()
    where app_id = ${appId} and resolved_at is null and (
      (guid = any(${delivered}::text[]) and not missing_here)
      or exists (select from installation_events e where ${isArrivalOf(UNRESOLVED, sql.ref('u.missing_here'))}))
    returning guid`.execute(db);
  await sql`
    delete from unresolved_deliveries
    where app_id = ${appId} and resolved_at is not null
      and (last_requested_at is null or last_requested_at < now() - interval '1 minute')`.execute(
    db,
  );
  return rows.length;
}

/**
 * Our endpoint answers again: requests all earlier failures at once. Exceptions: deliveries whose
 * last request has no result in the log yet; those that our endpoint refused (400), because it
 * would refuse them again; and for a minute those that fail repeatedly, because each failure may
 * cause another look at the log.
 */
export async function bringForwardRequests(
  db: Kysely<Database>,
  appId: number,
  success: { id: string; deliveredAt: Date },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update unresolved_deliveries set next_request_at = now()
    where app_id = ${appId} and resolved_at is null and next_request_at > now()
      and (last_failed_at, delivery_id) < (${success.deliveredAt}::timestamptz, ${success.id}::bigint)
      and ${waitsForSuccess} and ${mayBeAskedAtOnce}`.execute(db);
  return Number(numAffectedRows);
}

/** How often a delivery that failed for a passing reason is requested again at once. */
const REQUESTS_AT_ONCE = 2;

/** Later requests are at least a minute apart; `requestsOfLastMinute` counts on it. */
const mayBeAskedAtOnce = sql`(requests <= ${REQUESTS_AT_ONCE} or last_requested_at < now() - interval '1 minute')`;

/**
 * The highest number of requests for a delivery in the last minute. Tests space them closer, which
 * is not counted.
 */
const requestsOfLastMinute = sql`case when requests <= ${REQUESTS_AT_ONCE} + 1 then requests else 1 end`;

/** Of an unresolved delivery: its newest attempt failed, and may get through later. */
const waitsForSuccess = sql`requested_delivery_id is distinct from delivery_id and last_status_code <> 400`;

/** True if any delivery of the App was asked for in the last `ms` milliseconds. */
export async function wasAskedFor(
  db: Kysely<Database>,
  appId: number,
  ms: number,
): Promise<boolean> {
  const { rows } = await sql`
    select from unresolved_deliveries where app_id = ${appId} and last_requested_at > now() - ${milliseconds(ms)} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/**
 * True while deliveries of the App wait for their next request that a success would request at
 * once.
 */
export async function hasWaitingRedeliveries(
  db: Kysely<Database>,
  appId: number,
): Promise<boolean> {
  const { rows } = await sql`
    select from unresolved_deliveries
    where app_id = ${appId} and resolved_at is null and next_request_at > now() and ${waitsForSuccess} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/**
 * Of deliveries that were asked for in vain the newest one, or none: when it gets through, our
 * endpoint is back.
 */
export async function findProbe(db: Kysely<Database>, appId: number): Promise<DueRedelivery[]> {
  const { rows } = await sql<DueRedelivery>`
    select ${DUE} from unresolved_deliveries
    where app_id = ${appId} and resolved_at is null and requests > 0 and last_status_code <> 400
    order by last_failed_at desc, delivery_id desc limit 1`.execute(db);
  return rows;
}

/** Which of these deliveries are being asked for already, or were until a moment ago. */
export async function findRememberedDeliveries(
  db: Kysely<Database>,
  appId: number,
  guids: readonly string[],
): Promise<Set<string>> {
  if (guids.length === 0) return new Set();
  const { rows } = await sql<{ guid: string }>`
    select guid from unresolved_deliveries where app_id = ${appId} and guid = any(${guids}::text[])`.execute(
    db,
  );
  return new Set(rows.map(({ guid }) => guid));
}

/**
 * Requests deliveries that our events lack, even if GitHub calls them successful: at once, and
 * until their rows are here.
 */
export async function askForMissingDeliveries(
  db: Kysely<Database>,
  appId: number,
  missing: readonly FailedDelivery[],
): Promise<void> {
  await rememberFailedDeliveries(db, appId, missing);
  await sql`
    update unresolved_deliveries set missing_here = true, resolved_at = null,
      next_request_at = case when ${mayBeAskedAtOnce} then now() else last_requested_at + interval '1 minute' end
    where (app_id, guid) in (
      select app_id, guid from unresolved_deliveries
      where app_id = ${appId} and guid = any(${missing.map(({ guid }) => guid)}::text[]) and not missing_here
      order by guid for update)`.execute(db);
}

export interface DueRedelivery {
  guid: string;
  /** As in FailedDelivery. */
  deliveryId: string;
  event: string;
  action: string | null;
  installationId: number | null;
  requests: number;
}

const DUE = sql`guid, delivery_id::text as "deliveryId", event, action, installation_id as "installationId", requests`;

/**
 * The deliveries to request now: installations take turns, each with waiting jobs first, and with
 * those that have been due for longest; at most `perMinute` less the requests of the
 * last minute. `earlyMs` allows a request this much early, so that a cycle that comes a moment too
 * soon does not skip it.
 */
export async function findDueRedeliveries(
  db: Kysely<Database>,
  appId: number,
  { perMinute, earlyMs }: { perMinute: number; earlyMs: number },
): Promise<DueRedelivery[]> {
  const { rows } = await sql<DueRedelivery>`
    select ${DUE} from (
      select *, case when event <> 'workflow_job' then 3 when action = 'queued' then 0 when action = 'completed' then 1 else 2 end as rank
      from unresolved_deliveries
      where app_id = ${appId} and resolved_at is null and next_request_at <= now() + ${milliseconds(earlyMs)}
    ) due
    -- The time of the first failure comes last: what failed again keeps no place.
    order by row_number() over (partition by installation_id order by rank, next_request_at, requests, first_failed_at, guid),
      rank, next_request_at, requests, first_failed_at, guid
    limit greatest(0, ${perMinute}::integer - (
      select coalesce(sum(${requestsOfLastMinute}), 0) from unresolved_deliveries where app_id = ${appId} and last_requested_at > now() - interval '1 minute'))`.execute(
    db,
  );
  return rows;
}

/**
 * Notes that GitHub was asked to repeat a delivery; the next request is `waitMs` away. Without an
 * id: GitHub did not accept the request.
 */
export async function recordRedeliveryRequest(
  db: Kysely<Database>,
  appId: number,
  { guid, deliveryId }: { guid: string; deliveryId: string | null },
  waitMs: number,
): Promise<void> {
  await db
    .updateTable('unresolved_deliveries')
    .set({
      requests: sql`requests + 1`,
      last_requested_at: sql`now()`,
      requested_delivery_id: sql`coalesce(${deliveryId}::bigint, requested_delivery_id)`,
      next_request_at: sql`now() + ${milliseconds(waitMs)}`,
    })
    .where('app_id', '=', appId)
    .where('guid', '=', guid)
    .execute();
}

/** Whether more of the App's deliveries are due than these. */
export async function hasDueBeside(
  db: Kysely<Database>,
  appId: number,
  guids: readonly string[],
): Promise<boolean> {
  const { rows } = await sql`
    select from unresolved_deliveries
    where app_id = ${appId} and resolved_at is null and next_request_at <= now() and guid <> all(${guids}::text[]) limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/**
 * For how long the oldest failed delivery of any App has been unresolved, in seconds; 0 if there is
 * none.
 */
export async function oldestUnresolvedSeconds(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    select extract(epoch from now() - min(first_failed_at))::float8 as seconds
    from unresolved_deliveries where resolved_at is null`.execute(db);
  return Math.max(0, rows[0]?.seconds ?? 0);
}
