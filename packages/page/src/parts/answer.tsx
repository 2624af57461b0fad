import type { ComponentChildren } from 'preact';
import { connection, isPaused, lastNewsAt } from '../state/live.ts';
import type { Trouble } from '../answers.ts';
import type { Shown } from '../state/use-answer.ts';
import { Ago, At } from './time.tsx';

/** Draws an answer, the last one too while there is trouble with the next. */
export const Answer = <T,>({
  of,
  children,
}: {
  of: Shown<T>;
  children: (answer: T) => ComponentChildren;
}) => (
  <>
    {of.trouble !== undefined && <TroubleNote trouble={of.trouble} />}
    {of.answer !== undefined && children(of.answer)}
    {of.answer === undefined && of.trouble === undefined && <output class="none">Loading …</output>}
  </>
);

/** Why there is no answer, or none any longer, in the API’s words. */
export const TroubleNote = ({ trouble }: { trouble: Trouble }) => (
  <div class="trouble" role="alert">
    <strong>{trouble.title}.</strong> {trouble.errors === undefined && trouble.detail}
    {trouble.errors && (
      <ul>
        {trouble.errors.map(({ place, message }) => (
          <li key={place}>
            <code>{place.replace(/^(query|body|path)\./, '')}</code>: {message}
          </li>
        ))}
      </ul>
    )}
  </div>
);

/** Says that what is shown may be old, since when, and goes by itself. */
export const NotConnected = () =>
  connection.value !== 'lost' || isPaused.value ? null : (
    <p class="trouble" role="alert">
      <strong>Not connected</strong>
      {lastNewsAt.value !== undefined && (
        <>
          , last news at <At at={lastNewsAt.value} /> UTC, <Ago at={lastNewsAt.value} />
        </>
      )}
      . What is shown may be old: the console, its database or the way there hangs. The page tries
      again by itself.
    </p>
  );
