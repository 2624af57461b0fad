import type { Job as JobAnswer, Why as WhyAnswer } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link, Outside } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, Took } from '../parts/time.tsx';
import { Timeline } from '../parts/facts.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { count, plain, poolName } from '../text/words.ts';
import { queuedOf, ranOf } from './jobs.ts';
import { JobState } from './jobs.tsx';
import type { ViewProps } from './view.ts';
import { Why } from './why.tsx';

/** One job: why it waits, then all that is known of it. */
export function Job({ fields: { job: id = '' } }: ViewProps) {
  const path = `/jobs/${encodeURIComponent(id)}`;
  const why = useAnswer<WhyAnswer>(`${path}/why`, [
    'jobs',
    'workers',
    'demand_keys',
    'outages',
    'switches',
  ]);
  const job = useAnswer<JobAnswer>(path, ['jobs']);
  const named = job.answer ?? why.answer?.job;
  const url = named?.url ?? null;
  return (
    <>
      <Heading title={named?.name ?? `Job ${id}`}>
        {job.answer && <JobState job={job.answer} />}
        {url !== null && <Outside to={url}>At GitHub</Outside>}
      </Heading>
      <Answer of={why}>{(answer) => <Why answer={answer} />}</Answer>
      {/* A job that no pool serves, or that is unknown, has no row: what stands above says so. */}
      {job.answer === undefined && (why.answer?.job.pool === null || why.trouble) ? null : (
        <Answer of={job}>{(answer) => <Row job={answer} />}</Answer>
      )}
    </>
  );
}

function Row({ job }: { job: JobAnswer }) {
  const ran = ranOf(job);
  return (
    <>
      <h2>Job</h2>
      <Facts
        of={{
          Id: job.id,
          Repository: (
            <Link to={`/jobs?repository=${encodeURIComponent(job.repository.fullName)}`}>
              {job.repository.fullName}
            </Link>
          ),
          Workflow: job.workflow,
          Run: (
            <Link to={`/runs/${job.run.id}?owner=${encodeURIComponent(job.entity.login)}`}>
              {job.run.id}
            </Link>
          ),
          Attempt: job.run.attempt,
          Pool: poolName(job.pool),
          Labels: job.labels.join(', '),
          Worker: job.worker && (
            <Link to={`/workers/${encodeURIComponent(job.worker)}`}>{job.worker}</Link>
          ),
          Runner: job.runner && job.runner.name !== job.worker ? job.runner.name : null,
          Queued: <Took {...queuedOf(job)} />,
          Ran: ran && <Took {...ran} />,
          'Why Paddock ended it': job.failure,
          Image: job.image,
          Entity: <Link to={`/trace/entity/${job.entity.id}`}>{job.entity.login}</Link>,
          App: (
            <>
              {job.app}, <Link to={`/installations/${job.installation}`}>installation</Link>{' '}
              {job.installation}
            </>
          ),
          'What happened': <Link to={`/trace/job/${job.id}`}>trace of its entity</Link>,
          'Became waiting again': job.requeues > 0 ? count(job.requeues, 'time') : null,
          'Taken on by recovery': job.recoveries > 0 ? count(job.recoveries, 'time') : null,
          Misjudged: job.misjudged ? 'Paddock had ended it before GitHub did' : null,
        }}
      />
      <h2>Timeline</h2>
      <Timeline of={job.timeline} />
      <h2>Heard from GitHub</h2>
      <Table
        caption="Deliveries"
        columns={DELIVERIES}
        rows={job.deliveries}
        keyOf={({ id }) => id}
        none="No delivery about it is kept."
      />
    </>
  );
}

const DELIVERIES: readonly Column<JobAnswer['deliveries'][number]>[] = [
  { name: 'Event', of: ({ id, event }) => <Link to={`/trace/payload/${id}`}>{event}</Link> },
  {
    name: 'Heard',
    of: ({ source }) => (source === 'webhook' ? 'as a delivery' : `by the ${source}`),
  },
  { name: 'Outcome', of: ({ outcome }) => plain(outcome) },
  {
    name: 'Delivery',
    isWide: true,
    of: ({ guid }) =>
      guid === null ? (
        ''
      ) : (
        <Link to={`/deliveries/${encodeURIComponent(guid)}`} class="mono">
          {guid}
        </Link>
      ),
  },
  { name: 'Received', isNumber: true, of: ({ receivedAt }) => <Ago at={receivedAt} /> },
];
