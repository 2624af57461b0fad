import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { withoutTurns } from '../text/words.ts';

interface HeadingProps {
  /** Stands in the browser’s tab, too. */
  readonly title: string;
  /** Beside the title: a state, a link to GitHub. */
  readonly children?: ComponentChildren;
}

/** The one heading of a view. */
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
