import { sql } from 'kysely';
import { isArrivalOf, type LoggedDelivery } from '../events/append-events.ts';
import { IS_CONFIGURED } from '../instance.ts';
import type { Db } from '../schema/tables.ts';
import { milliseconds, NOW } from '../milliseconds.ts';

/** A delivery of GitHub's log, by all its attempts. */
export interface JudgedDelivery extends LoggedDelivery {
  /** The newest attempt, the one to repeat. As text: it does not fit a JavaScript number. */
  deliveryId: string;
  firstFailedAt: Date;
  lastFailedAt: Date;
  lastStatusCode: number;
}

/** SQL: the log's times are whole seconds, which two attempts may share: their ids rise. */
const IS_NEWER = sql`(excluded.last_failed_at, excluded.delivery_id) > (known.last_failed_at, known.delivery_id)`;

/**
 * Remembers deliveries that our events lack; of a known one the newest attempt counts. A new one is
 * due at once. `isAsked`: a person wants them, those too that had arrived or that wait for their next
 * request. Returns the new ones.
 */
export async function rememberLostDeliveries(
  db: Db,
  appId: number,
  lost: readonly JudgedDelivery[],
  { isAsked }: { isAsked: boolean },
): Promise<{ guid: string; isDelivered: boolean }[]> {
  if (lost.length === 0) return [];
  // Sorted, so that two that write the same rows wait for each other instead of deadlocking.
  const sorted = lost.toSorted((a, b) => (a.guid < b.guid ? -1 : 1));
  const { rows } = await sql<{ guid: string; isDelivered: boolean; isNew: boolean }>`
    insert into unresolved_deliveries as known
      (app_id, guid, delivery_id, event, action, installation_id, repository_id, first_failed_at, last_failed_at, last_status_code,
       missing_here, next_request_at)
    select ${appId}, f."guid", f."deliveryId", f."event", f."action", f."installationId", f."repositoryId",
      f."firstFailedAt", f."lastFailedAt", f."lastStatusCode",
      f."isDelivered", now()
    from jsonb_to_recordset(${JSON.stringify(sorted)}::jsonb) as f(
      "guid" text, "deliveryId" bigint, "event" text, "action" text, "installationId" bigint, "repositoryId" bigint,
      "firstFailedAt" timestamptz, "lastFailedAt" timestamptz, "lastStatusCode" integer, "isDelivered" boolean)
    on conflict (app_id, guid) do update set
      delivery_id = case when ${IS_NEWER} then excluded.delivery_id else known.delivery_id end,
      last_status_code = case when ${IS_NEWER} then excluded.last_status_code else known.last_status_code end,
      last_failed_at = greatest(excluded.last_failed_at, known.last_failed_at),
      first_failed_at = least(excluded.first_failed_at, known.first_failed_at),
      missing_here = known.missing_here or excluded.missing_here,
      next_request_at = case
        when ${isAsked}::boolean then least(known.next_request_at, greatest(now(), known.last_requested_at + interval '1 minute'))
        when known.missing_here or not excluded.missing_here then known.next_request_at
        when ${mayBeAskedAtOnce('known')} then excluded.next_request_at
        else known.last_requested_at + interval '1 minute' end,
      resolved_at = null
      where ${IS_NEWER} or (excluded.missing_here and not known.missing_here) or ${isAsked}::boolean
    returning guid, missing_here as "isDelivered", (known.xmax = 0) as "isNew"`.execute(db);
  return rows.filter(({ isNew }) => isNew);
}

/**
 * Resolves deliveries that arrived: those given, and all whose row is here. A replay's row counts
 * only where GitHub calls the delivery successful. Returns how many.
 */
export async function resolveDeliveries(
  db: Db,
  appId: number,
  arrived: readonly string[],
): Promise<number> {
  const isArrived = sql<boolean>`(guid = any(${arrived}::text[])
    or exists (select from installation_events e where ${isArrivalOf('u', 'missing_here')}))`;
  const { numUpdatedRows } = await db
    .updateTable('unresolved_deliveries as u')
    .set({ resolved_at: NOW })
    .where('app_id', '=', appId)
    .where('resolved_at', 'is', null)
    .where(isArrived)
    .executeTakeFirst();
  await db
    .deleteFrom('unresolved_deliveries')
    .where('app_id', '=', appId)
    .where('resolved_at', 'is not', null)
    .where(
      sql<boolean>`(last_requested_at is null or last_requested_at < now() - interval '1 minute')`,
    )
    .execute();
  return Number(numUpdatedRows);
}

/**
 * Our endpoint answers again: requests all earlier failures at once. Exceptions: deliveries whose
 * last request has no result in the log yet; those that our endpoint refused (400), because it
 * would refuse them again; and for a minute those that fail repeatedly, because each failure may
 * cause another look at the log.
 */
export async function bringForwardRequests(
  db: Db,
  appId: number,
  success: { id: string; deliveredAt: Date },
): Promise<void> {
  await db
    .updateTable('unresolved_deliveries')
    .set({ next_request_at: NOW })
    .where('app_id', '=', appId)
    .where('resolved_at', 'is', null)
    .where('next_request_at', '>', NOW)
    .where(
      sql<boolean>`(last_failed_at, delivery_id) < (${success.deliveredAt}::timestamptz, ${success.id}::bigint)`,
    )
    .where(waitsForSuccess)
    .where(mayBeAskedAtOnce('unresolved_deliveries'))
    .execute();
}

/** How often a delivery that failed for a passing reason is requested again at once. */
const REQUESTS_AT_ONCE = 2;

/** Later requests are at least a minute apart; `requestsOfLastMinute` counts on it. */
const mayBeAskedAtOnce = (row: string) =>
  sql<boolean>`(${sql.ref(`${row}.requests`)} <= ${REQUESTS_AT_ONCE} or ${sql.ref(`${row}.last_requested_at`)} < now() - interval '1 minute')`;

/** The most requests of the last minute. Tests space them closer, which does not count. */
const requestsOfLastMinute = sql`case when requests <= ${REQUESTS_AT_ONCE} + 1 then requests else 1 end`;

/** Of an unresolved delivery: its newest attempt failed, and may get through later. */
const waitsForSuccess = sql<boolean>`(requested_delivery_id is distinct from delivery_id
  and last_status_code <> 400 and last_status_code not between 200 and 299)`;

export interface DueRedelivery {
  guid: string;
  /** As in JudgedDelivery. */
  deliveryId: string;
  installationId: number | null;
}

/**
 * The deliveries to request now: installations take turns, each with waiting jobs first, and with
 * those that have been due for longest; at most `perMinute` less the requests of the last minute.
 * `earlyMs` allows a request this much early, so that a cycle that comes a moment too soon does not
 * skip it. If none is due, and none was asked for in this cycle, the newest that was asked for in
 * vain is a probe: when it gets through, our endpoint is back.
 */
export async function findDueRedeliveries(
  db: Db,
  appId: number,
  { perMinute, earlyMs, cycleMs }: { perMinute: number; earlyMs: number; cycleMs: number },
): Promise<{
  due: DueRedelivery[];
  /** More are due than the minute allows. */
  moreDue: boolean;
  /** These are the first of the cycle, and a success has others requested at once. */
  othersWait: boolean;
}> {
  const { rows } = await sql<DueRedelivery & { allowed: number; othersWait: boolean }>`
    with known as (select * from unresolved_deliveries where app_id = ${appId}),
    past as (
      select coalesce(sum(${requestsOfLastMinute}) filter (where last_requested_at > now() - interval '1 minute'), 0) as of_minute,
        coalesce(bool_or(last_requested_at > now() - ${milliseconds(cycleMs - earlyMs)}), false) as in_cycle from known),
    open as (select *, next_request_at <= now() + ${milliseconds(earlyMs)} as is_due from known where resolved_at is null),
    probe as (
      select guid from open, past
      where not in_cycle and not exists (select from open where is_due) and requests > 0 and last_status_code <> 400
      order by last_failed_at desc, delivery_id desc limit 1),
    chosen as (
      select *, case when event <> 'workflow_job' then 3 when action = 'queued' then 0 when action = 'completed' then 1 else 2 end as rank
      from open where is_due or guid in (select guid from probe))
    select guid, delivery_id::text as "deliveryId", installation_id as "installationId", (${perMinute} - of_minute)::integer as allowed,
      not in_cycle and exists (
        select from open where not is_due and guid not in (select guid from probe) and ${waitsForSuccess}) as "othersWait"
    from chosen, past
    -- The time of the first failure comes last: what failed again keeps no place.
    order by row_number() over (partition by installation_id order by rank, next_request_at, requests, first_failed_at, guid),
      rank, next_request_at, requests, first_failed_at, guid
    limit ${perMinute}::integer + 1`.execute(db);
  const due = rows.slice(0, Math.max(0, rows[0]?.allowed ?? 0));
  return { due, moreDue: rows.length > due.length, othersWait: rows[0]?.othersWait ?? false };
}

/**
 * Notes that GitHub was asked to repeat a delivery. The next request is a first step away, after
 * later ones up to twelve. Without an id: GitHub did not accept the request.
 */
export async function recordRedeliveryRequest(
  db: Db,
  appId: number,
  { guid, deliveryId }: { guid: string; deliveryId: string | null },
  firstStepMs: number,
): Promise<void> {
  const steps = sql`coalesce((array[1, 1, 1, 2, 4, 8])[requests + 1], 12)`;
  await db
    .updateTable('unresolved_deliveries')
    .set({
      requests: sql`requests + 1`,
      last_requested_at: NOW,
      requested_delivery_id: sql`coalesce(${deliveryId}::bigint, requested_delivery_id)`,
      next_request_at: sql`now() + ${milliseconds(firstStepMs)} * ${steps}`,
    })
    .where('app_id', '=', appId)
    .where('guid', '=', guid)
    .execute();
}

/** The newest attempt at an unresolved delivery that we know of; undefined: there is none. */
export const findUnresolved = (
  db: Db,
  guid: string,
  appIds: readonly number[],
): Promise<{ guid: string; appId: number; deliveryId: string } | undefined> =>
  db
    .selectFrom('unresolved_deliveries')
    .select(['guid', 'app_id as appId', sql<string>`delivery_id::text`.as('deliveryId')])
    .where('app_id', '=', sql<number>`any(${appIds}::bigint[])`)
    .where('guid', '=', guid)
    .limit(1)
    .executeTakeFirst();

/** The age of the oldest unresolved delivery of our Apps, in seconds; 0: there is none. */
export async function oldestUnresolvedSeconds(db: Db): Promise<number> {
  const age = sql<number | null>`extract(epoch from now() - min(first_failed_at))::float8`;
  const { seconds } = await db
    .selectFrom('unresolved_deliveries')
    .select(age.as('seconds'))
    .where('resolved_at', 'is', null)
    .where(IS_CONFIGURED)
    .executeTakeFirstOrThrow();
  return Math.max(0, seconds ?? 0);
}

/** How far an App's delivery log was read, by GitHub's clock. */
export interface LogMark {
  /** Everything up to here was read; null: nothing yet. */
  readonly readTo: Date | null;
  /** Of a reading that broke off: it has everything from `from` down to the cursor. */
  readonly rest?: { readonly cursor: string; readonly from: Date } | undefined;
}

/**
 * The App's mark, when it was stored (null: never), the database's clock, and since when there is
 * this environment.
 */
export async function readLogMark(
  db: Db,
  appId: number,
): Promise<{ mark: LogMark; readAt: Date | null; now: Date; installedAt: Date }> {
  const { now, readAt, readTo, cursor, from, installedAt } = await db
    .selectFrom('instance')
    .leftJoin('apps', (join) => join.on('app_id', '=', appId))
    .select([NOW.as('now'), 'log_read_at as readAt', 'log_read_to as readTo'])
    .select([
      'log_cursor as cursor',
      'log_cursor_from as from',
      'instance.created_at as installedAt',
    ])
    .executeTakeFirstOrThrow();
  const rest = cursor === null || from === null ? undefined : { cursor, from };
  return { mark: { readTo, rest }, readAt, now, installedAt };
}

export async function storeLogMark(
  db: Db,
  appId: number,
  { readTo, rest }: LogMark,
): Promise<void> {
  const columns = {
    log_read_at: sql<Date>`now()`,
    log_read_to: readTo,
    log_cursor: rest?.cursor ?? null,
    log_cursor_from: rest?.from ?? null,
  };
  await db
    .insertInto('apps')
    .values({ app_id: appId, ...columns })
    .onConflict((conflict) => conflict.column('app_id').doUpdateSet(columns))
    .execute();
}

/** Discovery looks at the repositories of these unresolved deliveries before all that are due. */
const handOverToDiscovery = (lost: string) =>
  sql.raw(`
    insert into repositories as known (repo_id, entity_id, app_id, active_at, due_at)
    select distinct on (l.repository_id) l.repository_id, i.entity_id, i.app_id, now(), now() - interval '1 day'
    from ${lost} l join installations i on i.installation_id = l.installation_id where l.repository_id is not null
    order by l.repository_id, i.entity_id
    on conflict (repo_id) do update set active_at = now(), due_at = least(known.due_at, excluded.due_at)
    returning repo_id`);

/**
 * While more than `most` deliveries are unresolved, hands their repositories to discovery, which is
 * faster than requests. Returns how many.
 */
export async function handOverUnresolved(db: Db, appId: number, most: number): Promise<number> {
  const { rows } = await sql`
    with unresolved as (
      select * from unresolved_deliveries where app_id = ${appId} and resolved_at is null
    ), lost as (
      select * from unresolved where event = 'workflow_job' and (select count(*) from unresolved) > ${most}
    ) ${handOverToDiscovery('lost')}`.execute(db);
  return rows.length;
}

/**
 * Gives up the App's deliveries that GitHub can no longer repeat, and those of Apps that are no longer
 * configured. Appends an event for each and hands their
 * repositories to discovery, in one statement. Returns how many.
 */
export async function giveUpRedeliveries(
  db: Db,
  appId: number,
  olderThanMs: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with given_up as (
      delete from unresolved_deliveries
      where (app_id = ${appId} or not ${IS_CONFIGURED}) and resolved_at is null and first_failed_at < now() - ${milliseconds(olderThanMs)}
      returning *
    ), handed_over as (${handOverToDiscovery('given_up')})
    insert into installation_events (source, event, outcome, app_id, installation_id, repo_id, delivery_guid, payload)
    select 'reconciler', concat_ws('.', event, action), 'redelivery_given_up', app_id, installation_id, repository_id, guid,
      jsonb_build_object('delivery_id', delivery_id::text, 'first_failed_at', first_failed_at, 'last_failed_at', last_failed_at,
        'last_status_code', last_status_code, 'requests', requests)
    from given_up`.execute(db);
  return Number(numAffectedRows);
}
