import type { ComponentChildren } from 'preact';
import type { Shown } from '../state/use-answer.ts';
import { TroubleNote } from './trouble.tsx';

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
