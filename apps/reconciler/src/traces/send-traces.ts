import { findEndedJobs } from '@paddock/db/jobs/ended-jobs';
import type { Pass } from '../passes/pass.ts';
import { post } from '../post-json.ts';
import type { SweepContext } from '../sweep.ts';
import type { Collector } from './collector.ts';
import { tellTraces } from './tell-trace.ts';

/** The list with the id of the event up to which jobs were traced. */
const TRACED = 'traced';
/** How long a pass goes on looking, in milliseconds: the next one sends the rest. */
const SHARE_MS = 10_000;

type Context = Pick<SweepContext, 'db' | 'collector' | 'events'>;
type OfPass = Pick<Pass, 'known' | 'note' | 'signal'>;

/**
 * Sends the traces of jobs that have ended, from their rows. What the collector does not accept is sent
 * by the next pass, for an hour.
 */
export async function sendTraces({ db, collector, events }: Context, pass: OfPass) {
  if (collector === undefined) {
    pass.note(TRACED, []);
    return undefined;
  }
  const isKnown = typeof collector !== 'string';
  const outcome = isKnown ? await sendTo(collector, db, pass) : { sent: 0, problem: collector };
  if (outcome.problem !== undefined) events.tracesRefused(outcome.problem);
  return outcome;
}

async function sendTo({ url, headers, resource }: Collector, db: Context['db'], pass: OfPass) {
  const until = performance.now() + SHARE_MS;
  let sent = 0;
  while (performance.now() < until) {
    const [mark] = pass.known(TRACED);
    const { jobs, reachedId } = await findEndedJobs(db, mark === undefined ? null : Number(mark));
    if (reachedId === undefined) break;
    const body = tellTraces(jobs, resource);
    const options = { signal: pass.signal, headers };
    const problem = jobs.length > 0 ? await post('the collector', url, body, options) : undefined;
    if (problem !== undefined) return { sent, problem };
    pass.note(TRACED, [String(reachedId)]);
    sent += jobs.length;
  }
  return { sent, problem: undefined };
}
