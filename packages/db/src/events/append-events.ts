import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { CompiledQuery, sql } from 'kysely';
import { asRecord, preparedText } from '../connection/prepared.ts';
import { rowsOf } from '../rows.ts';
import type { Db, EntityType } from '../schema/tables.ts';

export interface EventToAppend {
  readonly source: 'webhook' | 'scheduler' | 'reconciler';
  readonly event: string;
  readonly outcome: Outcome;
  readonly appId: number | null;
  readonly installationId?: number | null | undefined;
  readonly entity?: {
    readonly type: EntityType;
    readonly id: number;
    readonly login: string;
  } | null;
  readonly repoId?: number | null;
  readonly jobId?: number | null | undefined;
  readonly deliveryGuid?: string | null | undefined;
  /** JSON text, or its UTF-8, stored as it is. */
  readonly payload: string | Buffer;
  /** Characters that cannot be stored were replaced in it. */
  readonly payloadRepaired?: boolean;
  /** As in DeliveryToRecord; only deliveries have one. */
  readonly bodyDigest?: string;
}

/** Appends events, in their order. */
export async function appendEvents(db: Db, events: readonly EventToAppend[]): Promise<void> {
  if (events.length === 0) return;
  await db.executeQuery(CompiledQuery.raw(APPEND_EVENTS, eventParameters(events)));
}

const EVENT_COLUMNS = {
  source: 'text',
  outcome: 'text',
  event: 'text',
  app_id: 'bigint',
  installation_id: 'bigint',
  entity_type: 'entity_type_enum',
  entity_id: 'bigint',
  entity_name: 'text',
  repo_id: 'bigint',
  job_id: 'bigint',
  delivery_guid: 'text',
  payload_repaired: 'boolean',
  body_digest: 'uuid',
} as const;

const EVENT_NAMES = Object.keys(EVENT_COLUMNS).join(', ');

/** The parameters of `appendingGiven`. */
export const eventParameters = (events: readonly EventToAppend[]): [string, Buffer] => [
  JSON.stringify(
    events.map((event) => ({
      source: event.source,
      event: event.event,
      outcome: event.outcome,
      app_id: event.appId,
      installation_id: event.installationId,
      entity_type: event.entity?.type,
      entity_id: event.entity?.id,
      entity_name: event.entity?.login,
      repo_id: event.repoId,
      job_id: event.jobId,
      delivery_guid: event.deliveryGuid,
      payload_repaired: event.payloadRepaired ?? false,
      body_digest: event.bodyDigest,
    })),
  ),
  jsonbArray(events.map(({ payload }) => payload)),
];

/** The query that appends events, for use inside other statements. */
export const appendingGiven = (
  events: `$${number}`,
  payloads: `$${number}`,
  condition = 'true',
): string => `
    insert into installation_events (${EVENT_NAMES}, payload)
    select ${EVENT_NAMES}, payload
    from rows from (json_to_recordset(${events}::json) as (${asRecord(EVENT_COLUMNS)}), unnest(${payloads}::jsonb[]))
      with ordinality as given(${EVENT_NAMES}, payload, position)
    where ${condition} order by position`;

/**
 * JSON texts as an array of JSONB in PostgreSQL's binary form: nothing in them needs escaping, a
 * prepared statement takes any number of them, and the received bytes pass unchanged.
 */
const jsonbArray = (texts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([
    int32s(1, 0, JSONB_OID, texts.length, 1),
    ...texts
      .map((text) => (typeof text === 'string' ? Buffer.from(text) : text))
      .flatMap((bytes) => [int32s(bytes.length + 1), VERSION, bytes]),
  ]);

function int32s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(value, 4 * at);
  return bytes;
}

const JSONB_OID = 3802;
/** Of JSONB's binary form; the text follows. */
const VERSION = Buffer.of(1);

const APPEND_EVENTS = preparedText(appendingGiven('$1', '$2'));

/** A delivery as GitHub's log has it. */
export interface LoggedDelivery {
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  /** GitHub calls an attempt at it successful. */
  readonly isDelivered: boolean;
}

/**
 * SQL: the event `e` is the delivery of GitHub's log in this row, which has the columns of
 * `unresolved_deliveries`. A delivery's GUID is not signed, so the body must agree as well. A body
 * that came under another GUID before is most likely a replay. It counts only with `countsReplays`,
 * where GitHub calls the delivery successful.
 */
export const isArrivalOf = (row: string, countsReplays: string) => {
  const of = (column: string) => sql.ref(`${row}.${column}`);
  return sql`
  e.delivery_guid = ${of('guid')} and e.source = 'webhook' and e.event = concat_ws('.', ${of('event')}, ${of('action')})
  and (e.installation_id = ${of('installation_id')}) is not false and (e.repo_id = ${of('repository_id')}) is not false
  and (e.outcome <> 'repeated_body' or ${of(countsReplays)})`;
};

/** The GUIDs of the deliveries that reached us, or that we gave up. */
export async function findStoredDeliveries(
  db: Db,
  deliveries: readonly LoggedDelivery[],
): Promise<Set<string>> {
  const stored = new Set<string>();
  for (let from = 0; from < deliveries.length; from += AT_ONCE) {
    const some = deliveries.slice(from, from + AT_ONCE);
    // The limit makes it one look-up for each.
    const rows = await rowsOf<{ guid: string }>(db)`
      select d.guid
      from jsonb_to_recordset(${JSON.stringify(some)}::jsonb)
        as given(guid text, event text, action text, "installationId" bigint, "repositoryId" bigint, "isDelivered" boolean)
      cross join lateral (select given.*, "installationId" as installation_id, "repositoryId" as repository_id) d
      cross join lateral (
        select from installation_events e
        where (${isArrivalOf('d', 'isDelivered')}) or (e.delivery_guid = d.guid and e.outcome = 'redelivery_given_up')
        limit 1) arrival`;
    for (const { guid } of rows) stored.add(guid);
  }
  return stored;
}

/** How many deliveries one statement takes. */
const AT_ONCE = 1000;
