import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { preparedText } from '../connection/prepared.ts';
import { asRecord } from '../connection/source-columns.ts';
import type { Database, EntityType } from '../schema/tables.ts';

export interface EventToAppend {
  readonly source: 'webhook' | 'scheduler' | 'reconciler';
  readonly event: string;
  readonly outcome: Outcome;
  readonly appId: number | null;
  readonly installationId: number | null;
  readonly account: { readonly type: EntityType; readonly id: number; readonly login: string } | null;
  readonly repoId: number | null;
  readonly jobId: number | null;
  readonly deliveryGuid: string | null;
  /** JSON text, or its UTF-8, stored as it is. */
  readonly payload: string | Buffer;
  readonly payloadRepaired: boolean;
}

/** Appends events, in their order. */
export async function appendEvents(trx: Transaction<Database>, events: readonly EventToAppend[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ ...toRow(event), source: event.source, outcome: event.outcome }));
  await trx.executeQuery(CompiledQuery.raw(APPEND_EVENTS, [JSON.stringify(rows), jsonArray(events.map(({ payload }) => payload))]));
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
} as const;

export const EVENT_NAMES = Object.keys(EVENT_COLUMNS).join(', ');

/** What is known of an event before it is stored. */
export function toRow(event: Omit<EventToAppend, 'source' | 'outcome' | 'payload'>): Record<keyof typeof EVENT_COLUMNS, unknown> {
  return {
    event: event.event,
    app_id: event.appId,
    installation_id: event.installationId,
    entity_type: event.account?.type,
    entity_id: event.account?.id,
    entity_name: event.account?.login,
    repo_id: event.repoId,
    job_id: event.jobId,
    delivery_guid: event.deliveryGuid,
    payload_repaired: event.payloadRepaired,
  };
}

/** The query that appends, for other statements. `events` has the columns of an event, its source and outcome; `payload` is an expression. */
export const appendingEvents = (events: string, payload: string): string => `
    insert into installation_events (source, outcome, ${EVENT_NAMES}, payload)
    select source, outcome, ${EVENT_NAMES}, ${payload} from (${events}) events`;

/** The payload of the event at `position`, from 1, of those in the parameter that `jsonArray` fills. */
export const payloadOf = (payloads: `$${number}`): string => `${payloads}::jsonb -> (position - 1)::integer`;

/**
 * Payloads are JSON already: as one JSON array nothing in them has to be escaped, and a prepared statement takes any number of them. In the
 * binary form of JSONB, a version and the text, so that bytes that came over the wire go on as they are.
 */
export function jsonArray(payloads: readonly (string | Buffer)[]): Buffer {
  const parts = payloads.flatMap((payload, index) => [index === 0 ? OPEN : COMMA, bytesOf(payload)]);
  return Buffer.concat([VERSION, ...(parts.length === 0 ? [OPEN] : parts), CLOSE]);
}

/** The same for one payload by itself. */
export const jsonValue = (payload: string | Buffer): Buffer => Buffer.concat([VERSION, bytesOf(payload)]);

const bytesOf = (payload: string | Buffer): Buffer => (typeof payload === 'string' ? Buffer.from(payload) : payload);

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

/** Those of the deliveries that reached us, whatever GitHub's log says of them. */
export async function findStoredDeliveries(db: Kysely<Database>, guids: readonly string[]): Promise<Set<string>> {
  if (guids.length === 0) return new Set();
  const { rows } = await sql<{ guid: string }>`
    select distinct delivery_guid as guid from installation_events where delivery_guid = any(${guids}::text[]) and source = 'webhook'`.execute(
    db,
  );
  return new Set(rows.map(({ guid }) => guid));
}
