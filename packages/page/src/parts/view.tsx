import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Trouble } from '../answers.ts';
import { connection, isPaused, lastNewsAt, type Watched } from '../state/live.ts';
import { zoneName } from '../state/zone.ts';
import { type Shown, useAnswer } from '../state/use-answer.ts';
import { withoutTurns } from '../text/words.ts';
import { Ago, At } from './inline.tsx';

interface HeadingProps {
  /** Stands in the browser’s tab, too. */
  readonly title: string;
  /** Beside the title: a state, a link to GitHub. */
  readonly children?: ComponentChildren;
}

export function Heading({ title: given, children }: HeadingProps) {
  // It may come from the address, which anybody may have written.
  const title = withoutTurns(given);
  useEffect(() => {
    document.title = `${title} · Paddock`;
  }, [title]);
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  );
}

interface ViewProps<T> {
  /** Of the API, as `/jobs/7`. */
  readonly path: string;
  /** Tables by whose changes the answer grows old. */
  readonly tables: readonly Watched[];
  /** Also again after each such time. */
  readonly everyMs?: number;
  /** Before there is an answer, and after that unless `titleOf` has a better one. */
  readonly title: string;
  readonly titleOf?: (answer: T) => string | undefined;
  /** Beside the title; `again` asks once more. */
  readonly beside?: (answer: T, again: () => void) => ComponentChildren;
  readonly children: (answer: T) => ComponentChildren;
}

export function View<T>(props: ViewProps<T>) {
  const { path, tables, everyMs, title, titleOf, beside, children } = props;
  const shown = useAnswer<T>(path, tables, everyMs);
  const { answer, again } = shown;
  return (
    <>
      <Heading title={(answer && titleOf?.(answer)) ?? title}>
        {answer && beside?.(answer, again)}
      </Heading>
      <Answer of={shown}>{children}</Answer>
    </>
  );
}

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
          , last news at <At at={lastNewsAt.value} /> {zoneName()}, <Ago at={lastNewsAt.value} />
        </>
      )}
      . What is shown may be old: the console, its database or the way there hangs. The page tries
      again by itself.
    </p>
  );
