import { createHash } from 'node:crypto';
import { type EndedJob, findEndedJobs } from '@paddock/db/jobs/ended-jobs';
import { phasesOfJob } from '@paddock/domain/jobs/phases-of-job';
import { VERSION } from '@paddock/runtime/version';
import type { Pass } from '../passes/pass.ts';
import { post } from '../post-json.ts';
import type { SweepContext } from '../sweep.ts';
import type { Collector } from './collector.ts';

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

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const INTERNAL = 1;
const ERROR = 2;

/** The traces of jobs as OTLP has them in JSON. The same job has the same ids each time. */
const tellTraces = (jobs: readonly EndedJob[], resource: Collector['resource']): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: 'paddock', version: VERSION }, spans: jobs.flatMap(spansOf) }],
    },
  ],
});

function spansOf(job: EndedJob): object[] {
  const { jobId, deliveryGuid } = job;
  const hash = (text: string) => createHash('sha256').update(`${jobId} ${text}`).digest('hex');
  const traceId = UUID.test(deliveryGuid ?? '')
    ? String(deliveryGuid).replaceAll('-', '').toLowerCase()
    : hash('trace').slice(0, 32);
  const spanOf = (name: string, from: Date, to: Date) => ({
    traceId,
    spanId: hash(name).slice(0, 16),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(to),
  });
  const phases = phasesOfJob(job);
  const [first, last] = [phases[0], phases.at(-1)];
  if (first === undefined || last === undefined) return [];
  const root = {
    ...spanOf('workflow_job', first.from, last.to),
    attributes: attributesOf({
      'cicd.pipeline.name': job.workflowName,
      'cicd.pipeline.run.id': String(job.runId),
      'cicd.pipeline.task.name': job.jobName,
      'cicd.pipeline.task.run.id': String(jobId),
      'cicd.pipeline.task.run.url.full': job.url,
      'vcs.repository.name': job.repository,
      'k8s.pod.name': job.podName,
      'k8s.namespace.name': job.namespace,
      'paddock.pool': job.pool,
      'paddock.conclusion': job.conclusion,
      'paddock.delivery': deliveryGuid,
    }),
    ...(job.conclusion === 'failure' && { status: { code: ERROR } }),
  };
  return [
    root,
    ...phases.map(({ name, from, to }) =>
      Object.assign(spanOf(name, from, to), { parentSpanId: root.spanId }),
    ),
  ];
}

/** GitHub's instants may be any. A collector reads 64 bits, or refuses all that came together. */
const LAST_MS = 18_446_744_073_709;
const nanos = (at: Date): string => `${Math.min(Math.max(at.getTime(), 1), LAST_MS)}000000`;

const attributesOf = (values: Readonly<Record<string, string | null>>): object[] =>
  Object.entries(values).flatMap(([key, value]) =>
    value === null ? [] : [{ key, value: { stringValue: value } }],
  );
