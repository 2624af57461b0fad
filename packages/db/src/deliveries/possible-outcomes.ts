import { jobOutcomes, type JobResult } from '@paddock/domain/deliveries/job-outcomes';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { REFUSED_ENTITY } from '@paddock/domain/pools/place-job';
import type { JobStatement } from '@paddock/domain/deliveries/workflow-job-event';

/** The parts of a delivery that decide its outcome. */
type Placed = Pick<JobStatement, 'jobId' | 'status'> & Pick<JobResult, 'place'>;

const BEFORE = [undefined, 'pending', 'running', 'completed', 'failed'] as const;

/**
 * All outcomes that deliveries can have, so that the statement picks one and the rule has one home.
 * `outcomes` holds one series per kind of delivery: an outcome for each result of storing its job;
 * where a pool serves the job, those for a refused entity follow. `choices` has the position, from
 * 1, at which each delivery's series begins; most deliveries of a batch share one.
 */
export function possibleOutcomes(batch: readonly Placed[]): {
  choices: number[];
  outcomes: Outcome[];
} {
  const outcomes: Outcome[] = [];
  const begins = new Map<string, number>();
  const ofJobs = Map.groupBy(batch, ({ jobId }) => jobId);
  const taken = new Map<number, number>();
  const choices = batch.map(({ jobId, place }) => {
    const arrived = ofJobs.get(jobId)?.map(({ status }) => status) ?? [];
    const nth = taken.get(jobId) ?? 0;
    taken.set(jobId, nth + 1);
    const key = `${'ignored' in place ? place.ignored : ''} ${arrived.join(' ')} ${nth}`;
    const known = begins.get(key);
    if (known !== undefined) return known;
    const begin = outcomes.length + 1;
    begins.set(key, begin);
    for (const decision of 'ignored' in place ? [place] : [place, REFUSED_ENTITY]) {
      for (const isMisused of [false, true]) {
        for (const before of BEFORE) {
          for (const changed of [false, true]) {
            outcomes.push(
              ...jobOutcomes({ before, changed, place: decision, isMisused }, arrived).slice(
                nth,
                nth + 1,
              ),
            );
          }
        }
      }
    }
    return begin;
  });
  return { choices, outcomes };
}

/**
 * The SQL that picks one, given (choice, is_refused, is_misused, before, changed) and `outcomes` as
 * a parameter.
 */
export const chosenOutcome = (outcomes: `$${number}`): string =>
  `(${outcomes}::text[])[choice + case when is_refused then ${4 * BEFORE.length} else 0 end + case when is_misused then ${2 * BEFORE.length} else 0 end + changed::integer + case before ${BEFORE.flatMap(
    (before, nth) => (before === undefined ? [] : [`when '${before}' then ${2 * nth}`]),
  ).join(' ')} else 0 end]`;
