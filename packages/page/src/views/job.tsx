import { duration } from '@paddock/domain/text/duration';
import type { AnswerOf } from '../answers.ts';
import {
  Ago,
  At,
  Chip,
  Link,
  Meter,
  OfPool,
  Outside,
  Thing,
  Took,
  Words,
} from '../parts/inline.tsx';
import { type Column, column, Facts, figure, Table, Timeline, wide } from '../parts/table.tsx';
import { Answer, Heading, View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import type { Watched } from '../state/live.ts';
import { useAnswer } from '../state/use-answer.ts';
import { count, number, plain } from '../text/words.ts';
import { queuedOf, ranOf, stateOf } from './jobs.ts';

const OF_WHY: readonly Watched[] = ['jobs', 'workers', 'demand_keys', 'outages', 'switches'];

export function Job({ fields: { job: id = '' } }: ViewProps) {
  const why = useAnswer<AnswerOf<'whyJob'>>(at`/jobs/${id}/why`, OF_WHY);
  const job = useAnswer<AnswerOf<'findJob'>>(at`/jobs/${id}`, ['jobs']);
  const named = job.answer ?? why.answer?.job;
  const url = named?.url ?? null;
  return (
    <>
      <Heading title={named?.name ?? `Job ${id}`}>
        {job.answer && <Chip of={stateOf(job.answer)} />}
        {url !== null && <Outside to={url}>At GitHub</Outside>}
      </Heading>
      <Answer of={why}>{(answer) => <Why answer={answer} />}</Answer>
      {/* A job that no pool serves, or that is unknown, has no row: what stands above says so. */}
      {(job.answer ?? (job.trouble && why.answer?.job.pool)) && (
        <Answer of={job}>{(answer) => <Row job={answer} />}</Answer>
      )}
    </>
  );
}

function Row({ job }: { job: AnswerOf<'findJob'> }) {
  const ran = ranOf(job);
  return (
    <>
      <h2>Job</h2>
      <Facts
        of={{
          Id: job.id,
          Repository: <Thing kind="repository" id={job.repository.fullName} />,
          Workflow: job.workflow,
          Run: <Thing kind="run" id={job.run.id} name={job.entity.login} />,
          Attempt: job.run.attempt,
          Pool: <OfPool pool={job.pool} />,
          Labels: job.labels.join(', '),
          Worker: job.worker && <Thing kind="worker" id={job.worker} />,
          Runner: job.runner && job.runner.name !== job.worker ? job.runner.name : null,
          Queued: <Took {...queuedOf(job)} />,
          Ran: ran && <Took {...ran} />,
          'Why Paddock ended it': job.failure,
          Image: job.image,
          Entity: <Thing kind="entity" id={job.entity.id} as={job.entity.login} />,
          App: job.app,
          Installation: <Thing kind="installation" id={job.installation} />,
          Operations: job.worker && (
            <Link to={at`/operations?subject=${`worker:${job.worker}`}`}>of its worker</Link>
          ),
          'What happened': <Link to={at`/trace/job/${job.id}`}>trace of its entity</Link>,
          'Became waiting again': job.requeues > 0 ? count(job.requeues, 'time') : null,
          'Taken on by recovery': job.recoveries > 0 ? count(job.recoveries, 'time') : null,
          Misjudged: job.misjudged ? 'Paddock had ended it before GitHub did' : null,
        }}
      />
      <Timeline name="Timeline" of={job.timeline} />
      <Table
        caption="Heard from GitHub"
        isPart
        columns={DELIVERIES}
        rows={job.deliveries}
        none="No delivery about it is kept."
      />
    </>
  );
}

export const DELIVERIES: readonly Column<AnswerOf<'findJob'>['deliveries'][number]>[] = [
  column('Event', ({ id, event }) => <Thing kind="event" id={id} as={event} />),
  column('Heard', ({ source }) => (source === 'webhook' ? 'as a delivery' : `by the ${source}`)),
  column('Outcome', ({ outcome }) => plain(outcome)),
  wide('Delivery', ({ guid }) => <Thing kind="delivery" id={guid} />),
  figure('Received', ({ receivedAt }) => <Ago at={receivedAt} />),
];

/** Those that are being stopped come for nobody. */
const onTheWay = ({ workersInAll, workersStopping }: AnswerOf<'whyJob'>): string =>
  count(workersInAll - workersStopping, 'worker') +
  (workersStopping === 0 ? ' on the way' : ` on the way, ${number(workersStopping)} being stopped`);

export const Run = ({ fields: { run = '' }, query }: ViewProps) => (
  <View<AnswerOf<'whyRun'>>
    path={`${at`/runs/${run}/why`}?${query.toString()}`}
    tables={OF_WHY}
    title={`Run ${run}`}
  >
    {({ items }) =>
      items.length === 0 ? (
        <p class="none">None of its jobs waits or runs, or no pool serves them.</p>
      ) : (
        items.map((answer) => (
          <article key={answer.job.id}>
            <h2>
              <Thing kind="job" id={answer.job.id} as={answer.job.name} />
            </h2>
            <Why answer={answer} />
          </article>
        ))
      )
    }
  </View>
);

const ACTORS = {
  wait: 'Nobody needs to: time will do',
  author: 'The workflow’s author',
  platform: 'The platform team',
} as const;

/** The answer to “why does it wait?”: one sentence, then all that it rests on. */
function Why({ answer }: { answer: AnswerOf<'whyJob'> }) {
  const { sentence, since, actor, place, lastStarts, caps, workers, earlier } = answer;
  return (
    <section class={`why ${actor ?? 'none'}`} aria-label={`Why job ${answer.job.id}`}>
      <p class="sentence">
        <Words of={sentence} />
      </p>
      <Facts
        of={{
          Since: since && (
            <>
              <At at={since} />, for <Took from={since} />
            </>
          ),
          'Who can act': actor && ACTORS[actor],
          'What to do': actor && <Words of={answer.advice} />,
          Place: place && placeInWords(place),
          'Last starts':
            lastStarts &&
            `The last ${count(lastStarts.jobs, 'job')} of its queue waited ${duration(lastStarts.medianMs)} (median)`,
        }}
      />
      {caps.length > 0 && (
        <ul class="meters" aria-label="Caps, used of the limit">
          {caps.map((cap) => (
            <Meter key={cap.name} {...cap} />
          ))}
        </ul>
      )}
      <Table
        caption={onTheWay(answer)}
        isPart
        columns={WORKERS}
        rows={workers}
        keyOf={({ name }) => name}
      />
      {earlier.length > 0 && (
        <Timeline
          name="Before that it waited for"
          of={earlier.map(({ reason, since: from, until }) => ({
            at: from,
            what: plain(reason),
            after: <Took from={from} to={until} />,
          }))}
        />
      )}
      <details>
        <summary>Evidence: the stored facts behind this answer</summary>
        <pre>{JSON.stringify(answer.evidence, null, 2)}</pre>
      </details>
    </section>
  );
}

const placeInWords = (place: NonNullable<AnswerOf<'whyJob'>['place']>): string => {
  const { position, of, olderOfEntity, olderOfPool } = place;
  const older = [
    ...(olderOfEntity > 0 ? [`${count(olderOfEntity, 'older job')} of its entity elsewhere`] : []),
    ...(olderOfPool > 0 ? [`${count(olderOfPool, 'older job')} of others in its pool`] : []),
  ];
  return `${position} of ${of} in its queue${older.length > 0 ? `; ${older.join(', ')}` : ''}`;
};

const WORKERS: readonly Column<AnswerOf<'whyJob'>['workers'][number]>[] = [
  column('Worker', ({ name }) => <Thing kind="worker" id={name} />),
  column('State', ({ state }) => plain(state)),
  wide('Detail', ({ detail }) => detail),
  figure('Age', ({ ageMs }) => duration(ageMs)),
];
