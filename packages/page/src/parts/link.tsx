import type { ComponentChildren } from 'preact';
import { hrefOf } from '../state/base.ts';

interface LinkProps {
  /** A path of the page, as `/jobs?state=waiting`. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly 'aria-current'?: 'page';
}

/** A link within the page. */
export const Link = ({ to, children, ...rest }: LinkProps) => (
  <a href={hrefOf(to)} {...rest}>
    {children}
  </a>
);

/** A link to GitHub. What came from a delivery is a link only if it is one of the web. */
export const Outside = ({ to, children }: { to: string; children: ComponentChildren }) =>
  /^https?:\/\//i.test(to) ? (
    <a href={to} target="_blank" rel="noreferrer">
      {children} <span aria-hidden="true">↗</span>
    </a>
  ) : (
    <>{children}</>
  );
