import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { CompiledQuery, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { preparedText } from '../connection/prepared.ts';
import { asRecord } from '../connection/source-columns.ts';
import type { Database, EntityType } from '../schema/tables.ts';

export interface EventToAppend {
  readonly source: 'webhook' | 'scheduler' | 'reconciler';
  readonly event: string;
  readonly outcome: Outcome;
  readonly appId: number | null;
  readonly installationId: number | null;
  readonly entity: {
    readonly type: EntityType;
    readonly id: number;
    readonly login: string;
  } | null;
  readonly repoId: number | null;
  readonly jobId: number | null;
  readonly deliveryGuid: string | null;
  /** JSON text, or its UTF-8, stored as it is. */
  readonly payload: string | Buffer;
  readonly payloadRepaired: boolean;
  /** As in DeliveryToRecord; only deliveries have one. */
  readonly bodyDigest?: string;
}

/** Appends events, in their order. */
export async function appendEvents(
  trx: Transaction<Database>,
  events: readonly EventToAppend[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({
    ...toRow(event),
    source: event.source,
    outcome: event.outcome,
  }));
  await trx.executeQuery(
    CompiledQuery.raw(APPEND_EVENTS, [
      JSON.stringify(rows),
      jsonArray(events.map(({ payload }) => payload)),
    ]),
  );
}

/** The columns of an event as `toRow` gives them. */
export const EVENT_COLUMNS = {
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

export const EVENT_NAMES = Object.keys(EVENT_COLUMNS).join(', ');

/** An event before it is stored. */
export function toRow(
  event: Omit<EventToAppend, 'source' | 'outcome' | 'payload'>,
): Record<keyof typeof EVENT_COLUMNS, unknown> {
  return {
    event: event.event,
    app_id: event.appId,
    installation_id: event.installationId,
    entity_type: event.entity?.type,
    entity_id: event.entity?.id,
    entity_name: event.entity?.login,
    repo_id: event.repoId,
    job_id: event.jobId,
    delivery_guid: event.deliveryGuid,
    payload_repaired: event.payloadRepaired,
    body_digest: event.bodyDigest,
  };
}

/**
 * The query that appends, for use inside other statements. `events` has the columns of an event,
 * its source and outcome; `payload` is an expression.
 */
export const appendingEvents = (events: string, payload: string): string => `
    insert into installation_events (source, outcome, ${EVENT_NAMES}, payload)
    select source, outcome, ${EVENT_NAMES}, ${payload} from (${events}) events`;

/** The payload of the event at `position`, from 1, in the parameter of `jsonArray`. */
export const payloadOf = (payloads: `$${number}`): string =>
  `${payloads}::jsonb -> (position - 1)::integer`;

/**
 * Payloads are JSON already. In one JSON array nothing needs escaping, and a prepared statement
 * takes any number of them. The parameter is JSONB's binary form, a version and the text, so the
 * received bytes pass unchanged.
 */
export function jsonArray(payloads: readonly (string | Buffer)[]): Buffer {
  const parts = payloads.flatMap((payload, index) => [
    index === 0 ? OPEN : COMMA,
    bytesOf(payload),
  ]);
  return Buffer.concat([VERSION, ...(parts.length === 0 ? [OPEN] : parts), CLOSE]);
}

/** The same for one payload by itself. */
export const jsonValue = (payload: string | Buffer): Buffer =>
  Buffer.concat([VERSION, bytesOf(payload)]);

const bytesOf = (payload: string | Buffer): Buffer =>
  typeof payload === 'string' ? Buffer.from(payload) : payload;

const VERSION = Buffer.of(1);
const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

const APPEND_EVENTS = preparedText(
  appendingEvents(
    `select * from rows from (json_to_recordset($1::json) as (${asRecord(EVENT_COLUMNS)}, source text, outcome text))
      with ordinality as given(${EVENT_NAMES}, source, outcome, position) order by position`,
    payloadOf('$2'),
  ),
);

/** A delivery as GitHub's log has it. */
export interface LoggedDelivery {
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
}

/**
 * SQL: the event `e` is the delivery of GitHub's log with these columns. A delivery's GUID is not
 * signed, so the body must agree as well. A body that came under another GUID before is most likely
 * a replay. It counts only with `countsReplays`, where GitHub calls the delivery successful.
 */
export const isArrivalOf = (
  log: {
    guid: string;
    event: string;
    action: string;
    installationId: string;
    repositoryId: string;
  },
  countsReplays: RawBuilder<boolean>,
) => sql`
  e.delivery_guid = ${sql.ref(log.guid)} and e.source = 'webhook'
  and e.event = concat_ws('.', ${sql.ref(log.event)}, ${sql.ref(log.action)})
  and (e.installation_id = ${sql.ref(log.installationId)}) is not false and (e.repo_id = ${sql.ref(log.repositoryId)}) is not false
  and (e.outcome <> 'repeated_body' or ${countsReplays})`;

const GIVEN = {
  guid: 'd.guid',
  event: 'd.event',
  action: 'd.action',
  installationId: 'd.installationId',
  repositoryId: 'd.repositoryId',
};

/** The GUIDs of the deliveries that reached us. `countsReplays` as in `isArrivalOf`. */
export async function findStoredDeliveries(
  db: Kysely<Database>,
  deliveries: readonly LoggedDelivery[],
  { countsReplays }: { countsReplays: boolean },
): Promise<Set<string>> {
  if (deliveries.length === 0) return new Set();
  const given = deliveries.map(({ guid, event, action, installationId, repositoryId }) => ({
    guid,
    event,
    action,
    installationId,
    repositoryId,
  }));
  // The limit makes it one look-up for each.
  const { rows } = await sql<{ guid: string }>`
    select d.guid
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      as d(guid text, event text, action text, "installationId" bigint, "repositoryId" bigint)
    cross join lateral (select from installation_events e where ${isArrivalOf(GIVEN, sql`${countsReplays}::boolean`)} limit 1) arrival`.execute(
    db,
  );
  return new Set(rows.map(({ guid }) => guid));
}
