import { readFleetDiagnoses } from '../diagnoses/diagnose-fleet.ts';
import { sqlStateOf } from '@paddock/db/connection/errors';
import { findMatchingSettings } from '@paddock/db/instance';
import { findLapsedLeases } from '@paddock/db/leases/leases';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Db } from '@paddock/db/schema/tables';
import { duration } from '@paddock/domain/text/duration';
import type { FleetDiagnosis } from '@paddock/domain/why/diagnose-fleet';
import { readSweeps } from '@paddock/queue/read-sweeps';
import { cadenceRules, sweepSchedules } from '@paddock/queue/sweep-schedules';
import { valuesOf } from '@paddock/runtime/rules';
import { type Finding, findingsOf, messageOf } from './findings.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

/** What people want, and what they have to lift. */
const WILLED: ReadonlySet<string> = new Set(['making_stopped', 'pool_paused']);

/** What the rows say of the services and of the work. Never rejects. */
export async function checkServices(db: Db): Promise<Finding[]> {
  const { found, mend, remark, unchecked } = findingsOf('services');
  try {
    if ((await currentPoolsDocument(db)) === undefined)
      mend(
        'No scheduler has loaded the pools, so no delivery is taken: start the scheduler, or mend what its readiness says',
      );
    for (const one of await readFleetDiagnoses(db)) {
      const isForPeople = one.actor === 'platform' && !WILLED.has(one.name);
      (isForPeople ? mend : remark)(sentenceOf(one));
    }
    mend(...(await findOverdue(db)));
    for (const { name, seconds } of await findLapsedLeases(db))
      mend(
        `No scheduler has done ${name} for ${duration(seconds * 1_000)}: its lease has lapsed; look at the scheduler's pods and their log`,
      );
  } catch (error) {
    const isOfRights = sqlStateOf(error) === INSUFFICIENT_PRIVILEGE;
    if (isOfRights)
      unchecked(
        `What the rows say of the services was not checked: ${messageOf(error)}; ask with the login of the console, by \`paddock troubles\``,
      );
    else mend(`What the rows say of the services cannot be read: ${messageOf(error)}`);
  }
  return found;
}

/** The sweeps that do not succeed, a sentence each. Of one that is paused, its switch tells. */
async function findOverdue(db: Db): Promise<string[]> {
  const { appIds = [] } = (await findMatchingSettings(db)) ?? {};
  const sweeps = await readSweeps(db, sweepSchedules(valuesOf(cadenceRules), appIds));
  return sweeps.flatMap(({ name, overdueFor, pausedBy }) =>
    overdueFor === undefined || pausedBy !== null
      ? []
      : [`The sweep ${name} repairs nothing: ${overdueFor}; look at the reconciler and its log`],
  );
}

const sentenceOf = ({ jobs, sentence, advice }: FleetDiagnosis): string =>
  `${jobs > 0 ? `${jobs} waiting jobs: ` : ''}${sentence} ${advice}`;
