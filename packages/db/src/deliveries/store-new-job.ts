import { foldJobStatements } from '@paddock/domain/deliveries/fold-job-statements';
import { jobOutcomes } from '@paddock/domain/deliveries/job-outcomes';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { placeJob } from '@paddock/domain/pools/place-job';
import { CompiledQuery, type Kysely } from 'kysely';
import { appendingEvents, EVENT_COLUMNS, jsonValue } from '../events/installation-events.ts';
import { eventOf, type JobDelivery, statementOf } from './store-job-deliveries.ts';
import { NEW_JOB_PARAMETERS, newJobParameters, storingNewJob } from '../jobs/jobs.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { jobToStore } from '../jobs/stated-columns.ts';
import { preparedText } from '../connection/prepared.ts';
import { asParameters, parametersOf } from '../connection/source-columns.ts';
import type { Database } from '../schema/tables.ts';

/** The delivery says nothing new of the installation, so there is nothing to note. */
const isKnownInstallation = `exists (select from installations i where i.entity_id = stated.entity_id and i.app_id = stated.app_id
  and i.installation_id = stated.installation_id and i.login = stated.entity_name)`;

/** No login admits the entity, or its own login does. */
const isKnownName = `(stated.by_login is null
  or exists (select from login_pins p where p.login = stated.by_login and p.entity_id = stated.entity_id))`;

const EVENT_BEGINS = NEW_JOB_PARAMETERS + 1;
const EVENT_ENDS = EVENT_BEGINS + Object.keys(EVENT_COLUMNS).length;
const event = `select ${asParameters(EVENT_COLUMNS, EVENT_BEGINS)}, 'webhook' as source, $${EVENT_ENDS}::text as outcome from written`;

const STORE_NEW_JOB =
  preparedText(`with ${storingNewJob(`${isKnownInstallation} and ${isKnownName}`)}, appended as (
      ${appendingEvents(event, `$${EVENT_ENDS + 1}::jsonb`)}
    ) select job_id from written`);

/**
 * Stores a single delivery of a new waiting job, for which a person waits, in one statement. It
 * costs half of the statement for all cases. Undefined, with nothing written, for any other
 * delivery: the job is known, no pool serves it, it has begun, or its installation or its entity's
 * name is not the known one.
 */
export async function storeNewJob(
  db: Kysely<Database>,
  delivery: JobDelivery,
  pools: CurrentPools,
): Promise<Outcome | undefined> {
  const [facts] = foldJobStatements([statementOf(delivery)]);
  if (
    facts === undefined ||
    facts.status !== 'pending' ||
    facts.runnerName !== null ||
    facts.installationId === null
  )
    return undefined;
  const place = placeJob(pools.document, facts);
  if ('ignored' in place) return undefined;
  const [outcome] = jobOutcomes({ before: undefined, changed: true, place }, [facts.status]);
  const values = [
    ...newJobParameters(jobToStore(pools.document, facts, place), pools.version),
    ...parametersOf(EVENT_COLUMNS, eventOf(delivery)),
    outcome,
    jsonValue(delivery.payload),
  ];
  const { rows } = await db.executeQuery(CompiledQuery.raw(STORE_NEW_JOB, values));
  return rows.length === 0 ? undefined : outcome;
}
