import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { sql } from 'kysely';
import { rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';

/**
 * How many events one body leaves. GitHub repeats a delivery a few times a day, and each repeat is
 * stored. An attacker may send a captured body without end: beyond this number only the metric
 * counts it, and no table grows.
 */
const MOST_EVENTS = 20;

/**
 * For each of several deliveries: how many before it have the same body, and the GUID of the first.
 * For a select list with the window SAME_BODY.
 */
export const AMONG_GIVEN =
  'row_number() over same_body - 1 as nth, first_value(delivery_guid) over same_body as first_given';
export const SAME_BODY = 'window same_body as (partition by body_digest order by position)';

/** Finds events with the body of `given`: by its job, or by the body alone. */
export const SAID_OF_JOB = 'job_id = given.job_id and body_digest = given.body_digest';
const SAID_OF_NO_JOB =
  'given.job_id is null and job_id is null and body_digest = given.body_digest';

const eventsThat = (fit: string): string =>
  `(select id, delivery_guid from installation_events where ${fit} limit ${MOST_EVENTS})`;

/**
 * GitHub's log has this GUID, so redelivery requests it until it has an event with this body. An
 * outsider cannot write to that log.
 */
const IS_ASKED_FOR = `exists (select from unresolved_deliveries where (app_id, guid) = (given.app_id, given.delivery_guid))
  and not exists (select from installation_events
    where delivery_guid = given.delivery_guid and source = 'webhook' and body_digest = given.body_digest)`;

/**
 * Joins to each row of `given`, which has AMONG_GIVEN, the facts about its body: `is_known`;
 * `is_repeated`: it first came under another GUID; `leaves_row`: it has not left enough events. The
 * limits keep it a look-up in every plan.
 */
export const comparedWith = (...places: readonly string[]): string => `cross join lateral (
    select count(id) + given.nth > 0 as is_known,
      coalesce((array_agg(delivery_guid order by id))[1], given.first_given) <> given.delivery_guid as is_repeated,
      count(id) + given.nth < ${MOST_EVENTS} or (${IS_ASKED_FOR}) as leaves_row
    from (${places.map(eventsThat).join(' union all ')}) known
  ) compared`;

/** A delivery by its body. */
export interface GivenBody {
  readonly appId: number;
  readonly guid: string;
  /** As in DeliveryToRecord. */
  readonly bodyDigest: string;
  readonly parsed: ParsedDelivery;
}

/** The facts about a body. */
export interface KnownBody {
  /** It was stored before, perhaps in other bytes, or is earlier in the same batch. */
  readonly isKnown: boolean;
  /** It first came under another GUID. */
  readonly isRepeated: boolean;
  readonly leavesRow: boolean;
}

/**
 * The delivery itself was stored before, in other bytes: GitHub repeats it so after its webhook's
 * content type was changed. A replay under its GUID does not count.
 */
const WAS_STORED = `given.job_id is null and exists (select from installation_events
  where delivery_guid = given.delivery_guid and source = 'webhook' and event = given.event
    and installation_id is not distinct from given.installation_id and outcome <> 'repeated_body')`;

/** Returns for each delivery, in order, the facts about its body. */
export async function compareBodies(
  db: Db,
  deliveries: readonly GivenBody[],
): Promise<KnownBody[]> {
  const given = deliveries.map(({ appId, guid, bodyDigest, parsed }) => ({
    app_id: appId,
    delivery_guid: guid,
    body_digest: bodyDigest,
    event: parsed.event,
    installation_id: parsed.installationId,
    job_id: 'job' in parsed ? parsed.job.jobId : null,
  }));
  return rowsOf<KnownBody>(db)`
    select is_known or (${sql.raw(WAS_STORED)}) as "isKnown", is_repeated as "isRepeated", leaves_row as "leavesRow"
    from (
      select *, ${sql.raw(AMONG_GIVEN)}
      from rows from (json_to_recordset(${JSON.stringify(given)}::json)
        as (app_id bigint, delivery_guid text, body_digest uuid, event text, installation_id bigint, job_id bigint))
        with ordinality as given(app_id, delivery_guid, body_digest, event, installation_id, job_id, position) ${sql.raw(SAME_BODY)}
    ) given ${sql.raw(comparedWith(SAID_OF_JOB, SAID_OF_NO_JOB))} order by position`;
}
