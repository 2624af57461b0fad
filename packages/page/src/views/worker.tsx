import type { Worker as WorkerAnswer } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Answer } from '../parts/answer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Took } from '../parts/time.tsx';
import { Timeline } from '../parts/facts.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { plain } from '../text/words.ts';
import type { ViewProps } from './view.ts';
import { type Diagnosis, readDiagnosis } from './worker.ts';
import { WorkerState } from './workers.tsx';

/** One worker: why it failed or does not start, then all that is known of it. */
export function Worker({ fields: { worker: name = '' } }: ViewProps) {
  const path = `/workers/${encodeURIComponent(name)}`;
  const shown = useAnswer<WorkerAnswer>(path, ['workers']);
  const isLive = shown.answer !== undefined && shown.answer.completedAt === null;
  return (
    <>
      <Heading title={name}>
        {shown.answer && <WorkerState worker={shown.answer} />}
        {isLive && (
          <Act label="Drain …" method="POST" path={`${path}/drain`} again={shown.again}>
            Stops the worker once everything proves that no job runs on it. If jobs wait for it,
            another one is made.
          </Act>
        )}
      </Heading>
      <Answer of={shown}>{(worker) => <Row worker={worker} />}</Answer>
    </>
  );
}

function Row({ worker }: { worker: WorkerAnswer }) {
  const { stuck, stop } = worker;
  return (
    <>
      <Trouble worker={worker} />
      <h2>Worker</h2>
      <Facts
        of={{
          Job: worker.job && <Link to={`/jobs/${worker.job}`}>{worker.job}</Link>,
          'Made for':
            worker.madeFor && worker.madeFor !== worker.job ? (
              <Link to={`/jobs/${worker.madeFor}`}>{worker.madeFor}</Link>
            ) : null,
          Stuck: stuck && (
            <>
              {plain(stuck.reason)}
              {stuck.since && (
                <>
                  {' '}
                  for <Took from={stuck.since} to={worker.completedAt} />
                </>
              )}
            </>
          ),
          'To end because of': stop && plain(stop.reason),
          'Its stop is held up by': worker.stopHeldBy,
          Pool: worker.pool,
          Entity: <Link to={`/trace/entity/${worker.entity.id}`}>{worker.entity.login}</Link>,
          Repository: worker.repository,
          Lived: <Took from={worker.createdAt} to={worker.completedAt} />,
          Node: worker.node,
          Namespace: worker.namespace,
          Cluster: worker.cluster,
          'Pod uid': worker.podUid && <span class="mono">{worker.podUid}</span>,
          Image: worker.image,
          'Exit code': worker.exitCode,
          Labels: worker.labels.join(', '),
          Runner: worker.runner,
          App: (
            <>
              {worker.app}, <Link to={`/installations/${worker.installation}`}>installation</Link>{' '}
              {worker.installation}
            </>
          ),
          Tasks: <Link to={`/operations?subject=worker:${worker.name}`}>its operations</Link>,
        }}
      />
      <h2>Timeline</h2>
      <Timeline of={worker.timeline} />
    </>
  );
}

function Trouble({ worker: { diagnosis, noLog, state } }: { worker: WorkerAnswer }) {
  if (diagnosis === null)
    return state === 'failed' && noLog !== null ? <p class="quiet">{noLog}</p> : null;
  const { message, containers, events, conditions } = readDiagnosis(diagnosis);
  return (
    <section aria-label="Diagnosis">
      {message !== '' && <p class="trouble">{message}</p>}
      {conditions.length > 0 && (
        <ul class="quiet">
          {conditions.map((condition) => (
            <li key={condition}>{condition}</li>
          ))}
        </ul>
      )}
      {containers.map(({ name, end, log }) => (
        <div key={name}>
          <h2>
            Container {name} {end !== '' && <span class="quiet">{end}</span>}
          </h2>
          {log !== null && log.trim() !== '' && (
            <pre tabIndex={0} aria-label={`The end of the log of ${name}`}>
              {log}
            </pre>
          )}
        </div>
      ))}
      {noLog !== null && <p class="quiet">{noLog}</p>}
      {events.length > 0 && (
        <>
          <h2>Events of the pod</h2>
          <Table
            caption="Events of the pod"
            columns={EVENTS}
            rows={events}
            keyOf={({ reason, message: of }) => `${reason} ${of}`}
            none=""
          />
        </>
      )}
      <details>
        <summary>The diagnosis as it is stored</summary>
        <pre>{JSON.stringify(diagnosis, null, 2)}</pre>
      </details>
    </section>
  );
}

const EVENTS: readonly Column<Diagnosis['events'][number]>[] = [
  { name: 'Reason', of: ({ reason }) => reason },
  { name: 'Message', isWide: true, of: ({ message }) => message },
  { name: 'From', of: ({ source }) => source },
  { name: 'Times', isNumber: true, of: ({ count }) => count },
];
