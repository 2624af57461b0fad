import { duration } from '@paddock/domain/text/duration';
import type { Why as WhyAnswer } from '../answers.ts';
import { Facts } from '../parts/facts.tsx';
import { Link } from '../parts/link.tsx';
import { Meter } from '../parts/chip.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { At, Took } from '../parts/time.tsx';
import { count, plain } from '../text/words.ts';

const ACTORS = {
  wait: 'Nobody needs to: time will do',
  author: 'The workflow’s author',
  platform: 'The platform team',
} as const;

/** The answer to “why does it wait?”: one sentence, then all that it rests on. */
export function Why({ answer }: { answer: WhyAnswer }) {
  const { sentence, since, actor, advice, place, lastStarts, caps, workers, workersInAll } = answer;
  return (
    <section class={`why ${actor ?? 'none'}`} aria-label="Why">
      <p class="sentence">{sentence}</p>
      <Facts
        of={{
          Since: since && (
            <>
              <Took from={since} to={null} />{' '}
              <span class="quiet">
                since <At at={since} />
              </span>
            </>
          ),
          'Who can act': actor && ACTORS[actor],
          'What to do': actor && advice,
          Place: place && <Place place={place} />,
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
      {workers.length > 0 && (
        <>
          <h2>{count(workersInAll, 'worker')} on the way</h2>
          <Table
            caption="Workers on the way"
            columns={COLUMNS}
            rows={workers}
            keyOf={({ name }) => name}
            none=""
          />
        </>
      )}
      <Earlier of={answer.earlier} />
      <details>
        <summary>Evidence: the stored facts behind this answer</summary>
        <pre>{JSON.stringify(answer.evidence, null, 2)}</pre>
      </details>
    </section>
  );
}

function Place({ place }: { place: NonNullable<WhyAnswer['place']> }) {
  const { position, of, olderOfEntity, olderOfPool } = place;
  const older = [
    olderOfEntity > 0 && `${count(olderOfEntity, 'older job')} of its entity elsewhere`,
    olderOfPool > 0 && `${count(olderOfPool, 'older job')} of others in its pool`,
  ].filter((text) => text !== false);
  return (
    <>
      {position} of {of} in its queue
      {older.length > 0 && <span class="quiet">; {older.join(', ')}</span>}
    </>
  );
}

const Earlier = ({ of }: { of: WhyAnswer['earlier'] }) =>
  of.length === 0 ? null : (
    <>
      <h2>Before that it waited for</h2>
      <ol class="timeline">
        {of.map(({ reason, since, until }) => (
          <li key={since}>
            <At at={since} />
            <span class="what">{plain(reason)}</span>
            <span class="after">
              <Took from={since} to={until} />
            </span>
          </li>
        ))}
      </ol>
    </>
  );

const COLUMNS: readonly Column<WhyAnswer['workers'][number]>[] = [
  {
    name: 'Worker',
    of: ({ name }) => <Link to={`/workers/${encodeURIComponent(name)}`}>{name}</Link>,
  },
  { name: 'State', of: ({ state }) => plain(state) },
  { name: 'Detail', isWide: true, of: ({ detail }) => detail },
  { name: 'Age', isNumber: true, of: ({ ageMs }) => duration(ageMs) },
];
