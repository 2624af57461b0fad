import type { Outcome } from '@paddock/domain/outcomes';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database, EntityType } from './tables.ts';

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
  /** JSON text, stored as it is. */
  readonly payload: string;
  readonly payloadRepaired: boolean;
}

/** Appends events, in their order. */
export async function appendEvents(trx: Transaction<Database>, events: readonly EventToAppend[]): Promise<void> {
  if (events.length === 0) return;
  const column = <T>(of: (event: EventToAppend) => T): T[] => events.map(of);
  // Payloads are parameters of their own: inside an array value each of their quotes would be escaped once more.
  await sql`
    insert into installation_events (source, event, outcome, app_id, installation_id, entity_type, entity_id, entity_name, repo_id, job_id,
      delivery_guid, payload, payload_repaired)
    select source, event, outcome, app_id, installation_id, entity_type::entity_type_enum, entity_id, entity_name, repo_id, job_id,
      delivery_guid, payload::jsonb, payload_repaired
    from unnest(
      ${column((e) => e.source)}::text[], ${column((e) => e.event)}::text[], ${column((e) => e.outcome)}::text[],
      ${column((e) => e.appId)}::bigint[], ${column((e) => e.installationId)}::bigint[], ${column((e) => e.account?.type ?? null)}::text[],
      ${column((e) => e.account?.id ?? null)}::bigint[], ${column((e) => e.account?.login ?? null)}::text[],
      ${column((e) => e.repoId)}::bigint[], ${column((e) => e.jobId)}::bigint[], ${column((e) => e.deliveryGuid)}::text[],
      array[${sql.join(column((e) => e.payload))}]::text[], ${column((e) => e.payloadRepaired)}::boolean[]
    ) with ordinality as given(source, event, outcome, app_id, installation_id, entity_type, entity_id, entity_name, repo_id, job_id,
      delivery_guid, payload, payload_repaired, position)
    order by position`.execute(trx);
}

/** Those of the deliveries that reached us, whatever GitHub's log says of them. */
export async function findStoredDeliveries(db: Kysely<Database>, guids: readonly string[]): Promise<Set<string>> {
  if (guids.length === 0) return new Set();
  const { rows } = await sql<{ guid: string }>`
    select distinct delivery_guid as guid from installation_events where delivery_guid = any(${guids}::text[]) and source = 'webhook'`.execute(
    db,
  );
  return new Set(rows.map(({ guid }) => guid));
}
