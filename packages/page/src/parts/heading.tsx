import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface HeadingProps {
  /** Stands in the browser’s tab, too. */
  readonly title: string;
  /** Beside the title: a state, a link to GitHub. */
  readonly children?: ComponentChildren;
}

/** The one heading of a view. */
export function Heading({ title, children }: HeadingProps) {
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
