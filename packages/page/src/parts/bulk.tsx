import type { ComponentChildren } from 'preact';
import { request } from '../state/request.ts';
import { count } from '../text/words.ts';
import { distinct, type Outcome, type Step, takeSteps } from './bulk.ts';
import { Question } from './question.tsx';

/** An action on all chosen rows. */
export interface BulkAct<T> {
  /** On its button, as `Drain …`. */
  readonly label: string;
  /** What is acted on, as `worker`. */
  readonly one: string;
  readonly more?: string;
  /** What happens to each. */
  readonly said: ComponentChildren;
  readonly isGrave?: boolean;
  /** Undefined: it makes no sense for this row. */
  readonly stepOf: (row: T) => Step | undefined;
}

interface BulkProps<T> {
  readonly acts: readonly BulkAct<T>[];
  readonly rows: readonly T[];
  readonly again: () => void;
  readonly clear: () => void;
}

/** How many rows are chosen, and what may be done with all of them. */
export function Bulk<T>({ acts, rows, again, clear }: BulkProps<T>) {
  return (
    <div class="bulk">
      <output>{rows.length === 0 ? '' : `${count(rows.length, 'row')} chosen`}</output>
      {rows.length > 0 && (
        <>
          {acts.map((act) => (
            <OfAll key={act.label} act={act} rows={rows} again={again} clear={clear} />
          ))}
          <button type="button" class="plain" onClick={clear}>
            Choose none
          </button>
        </>
      )}
    </div>
  );
}

function OfAll<T>({
  act: { label, one, more, said, stepOf, isGrave = false },
  rows,
  again,
  clear,
}: Omit<BulkProps<T>, 'acts'> & { act: BulkAct<T> }) {
  const steps = distinct(rows.flatMap((row) => stepOf(row) ?? []));
  if (steps.length === 0) return null;
  const many = count(steps.length, one, more);
  return (
    <Question
      label={`${label.replace(' …', '')} ${many} …`}
      isGrave={isGrave}
      act={async ({ note }, tell, stopped) => {
        const outcome = await takeSteps(
          steps,
          note,
          request,
          (taken) => tell(`${taken} of ${steps.length}`),
          stopped,
        );
        again();
        if (outcome.failed.length === 0) clear();
        return { shown: <Told outcome={outcome} all={many} /> };
      }}
    >
      {said} <b>{many}</b>:{' '}
      {steps.slice(0, SHOWN).map(({ name }, index) => (
        <>
          {index > 0 && ', '}
          <bdi>{name}</bdi>
        </>
      ))}
      {steps.length > SHOWN && ` and ${steps.length - SHOWN} more`}.
    </Question>
  );
}

/** Names in a question. */
const SHOWN = 6;

const Told = ({ outcome: { done, failed, left }, all }: { outcome: Outcome; all: string }) => (
  <>
    <p>
      Asked for {done.length} of {all}
      {left > 0 && `, and stopped before ${left}`}.
    </p>
    {failed.length > 0 && (
      <div class="trouble" role="alert">
        <strong>{failed.length} refused:</strong>
        <ul>
          {failed.map(({ step: { name, path }, why }) => (
            <li key={path}>
              <bdi>{name}</bdi>: {why}
            </li>
          ))}
        </ul>
      </div>
    )}
  </>
);
