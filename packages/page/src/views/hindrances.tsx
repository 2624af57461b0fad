import { tellSwitch, textOf } from '@paddock/domain/text/tell-action';
import type { AnswerOf, Item } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Link, Thing, Took, Until, Words } from '../parts/inline.tsx';
import { TroubleNote } from '../parts/view.tsx';
import { at } from '../paths.ts';
import type { Watched } from '../state/live.ts';
import { type Shown, useAnswer } from '../state/use-answer.ts';
import { count, NO_POOL } from '../text/words.ts';

/** By what the list of pools grows old. */
export const OF_POOLS: readonly Watched[] = [
  'jobs',
  'workers',
  'demand_keys',
  'outages',
  'pools_documents',
];

const OF_HINDRANCES: readonly Watched[] = [...OF_POOLS, 'switches', 'installations', 'tasks'];

/** A session may hold back for longer that it has written, and silence writes nothing. */
const EVERY_MS = 3_000;

/** What holds work back, or that of one pool. */
export const useHindrances = (pool?: string): Shown<AnswerOf<'listDiagnoses'>> =>
  useAnswer(`/diagnoses${pool === undefined ? '' : at`?pool=${pool}`}`, OF_HINDRANCES, EVERY_MS);

const MOST_POOLS = 5;

/** Whatever holds work back, grouped by cause, the worst first; each with its act and the way on. */
export function Hindrances({
  of,
  pool: here,
}: {
  of: Shown<AnswerOf<'listDiagnoses'>>;
  pool?: string;
}) {
  const { answer, trouble, again } = of;
  if (trouble !== undefined) return <TroubleNote trouble={trouble} />;
  // An empty place would say that all is well.
  if (answer === undefined) return <output class="none">Asking what holds back work …</output>;
  if (answer.items.length === 0) return <p class="none">Nothing holds back work here.</p>;
  return (
    <>
      {answer.items.map((one) => {
        const { name, subject, sentence, since, until, actor, advice, jobs = 0 } = one;
        const pools = (one.pools ?? []).filter((pool) => pool !== here && pool !== NO_POOL);
        const isHeld = actor === 'wait' || name === 'making_stopped';
        return (
          <div class={isHeld ? 'held' : 'trouble'} key={`${name} ${subject} ${sentence}`}>
            {jobs > 0 && (
              <strong>
                <Link to={at`/jobs?state=waiting&reason=${name}`}>{count(jobs, 'job')}</Link> held
                back:{' '}
              </strong>
            )}
            <Words of={isHeld ? sentence : `${sentence} ${advice}`} />{' '}
            <span class="quiet">
              {since !== null && (
                <>
                  For <Took from={since} />.{' '}
                </>
              )}
              {until && (
                <>
                  Tried again: <Until at={until} />.{' '}
                </>
              )}
            </span>
            <span class="ways">
              {pools.slice(0, MOST_POOLS).map((pool) => (
                <Thing key={pool} kind="pool" id={pool} as={`Open the pool ${pool}`} />
              ))}
              {pools.length > MOST_POOLS && `and ${pools.length - MOST_POOLS} more pools`}
              {wayOn(one)}
              {actOn(one, here, again)}
            </span>
          </div>
        );
      })}
    </>
  );
}

/** Where more of a cause is told; of one account or repository, by its name. */
function placeOn(name: string, subject: string): readonly [to: string, as: string] | undefined {
  if (name === 'making_stopped') return ['/switches', 'Switches'];
  if (name === 'stops_held') return [at`/workers/${subject}`, 'Open the worker'];
  if (name === 'app_unfit') return ['/sweeps', 'Sweeps'];
  if (['tasks_asleep', 'kind_unserved'].includes(name))
    return [at`/operations?status=QUEUED&kind=${subject}`, 'Its operations'];
  const isNamed = /^(github_budget|installation_|repository_)/.test(name) && /^\S+$/.test(subject);
  return isNamed ? [at`/find?text=${subject}`, `Open ${subject}`] : undefined;
}

function wayOn({ name, subject, job = null }: Item<'listDiagnoses'>) {
  if (job !== null) return <Thing kind="job" id={job} as="Why the oldest waits" />;
  const [to, as] = placeOn(name, subject ?? '') ?? [];
  return to !== undefined && <Link to={to}>{as}</Link>;
}

const actOn = (
  { name, act, subject }: Item<'listDiagnoses'>,
  pool: string | undefined,
  again: () => void,
) =>
  act === 'resume' ? (
    <Resume subject={subject ?? ''} again={again} />
  ) : (
    act === 'try-again' && (
      <Act
        label="Try again now …"
        method="POST"
        path={at`/diagnoses/${name}/try-again`}
        body={{ ...(pool && { pool }), ...(name === 'tasks_asleep' && { kind: subject }) }}
        again={again}
      >
        Ends the pauses of this cause now: what fails again is paused again, for longer.
      </Act>
    )
  );

export const Resume = ({ subject, again }: { subject: string; again: () => void }) => (
  <Act label="Resume …" method="POST" path={at`/switches/${subject}/resume`} again={again}>
    Lets go on {textOf(tellSwitch(subject))}.
  </Act>
);
