import type { Told } from '@paddock/domain/text/tell-action';
import type { ComponentChildren } from 'preact';
import { placeOf, type Thing as Named } from '../paths.ts';
import { now } from '../state/clock.ts';
import { hrefOf } from '../state/place.ts';
import { isLocal, zoneName } from '../state/zone.ts';
import {
  ago,
  between,
  instant,
  number,
  partsOf,
  toneOf,
  until,
  NO_POOL,
  poolName,
} from '../text/words.ts';

interface LinkProps {
  /** A path of the page, as `/jobs?state=waiting`. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly 'aria-current'?: 'page';
}

export const Link = ({ to, children, ...rest }: LinkProps) => (
  <a href={hrefOf(to)} {...rest}>
    {children}
  </a>
);

interface ThingProps extends Omit<Named, 'id'> {
  readonly id: string | number | null;
  /** What it is called here; else its id. */
  readonly as?: ComponentChildren;
}

/** A link to a thing; nothing for none. */
export const Thing = ({ kind, id, name = null, as = id }: ThingProps) =>
  id === null ? null : (
    <Link to={placeOf({ kind, id, name })} {...(kind === 'delivery' && { class: 'mono' })}>
      {as}
    </Link>
  );

export const OfPool = ({ pool }: { pool: string }) =>
  pool === NO_POOL ? <>{poolName(pool)}</> : <Thing kind="pool" id={pool} />;

/** A sentence with its things as links. */
export const Sentence = ({ of }: { of: Told }) => (
  <>
    {of.map((part) =>
      typeof part === 'string' ? part : <Thing key={part.id} {...part} as={part.name ?? part.id} />,
    )}
  </>
);

/** A sentence with its commands as such, its jobs as links, and its instants as the page has them. */
export const Words = ({ of }: { of: string }) => (
  <>
    {partsOf(of).map((part) => {
      if (typeof part === 'string') return part;
      if ('at' in part) return <At key={part.at} at={part.at} />;
      if ('code' in part) return <code key={part.code}>{part.code}</code>;
      return <Thing key={part.job} kind="job" id={part.job} as={`Job ${part.job}`} />;
    })}
  </>
);

/** How many jobs or workers of a pool or an entity are in a state, and the way to their list. */
export const HowMany = ({
  of,
  state,
  many,
  ...filter
}: {
  of: 'jobs' | 'workers';
  state: string;
  many: number;
  pool?: string | undefined;
  entity?: number | undefined;
}) => (
  <Listed
    many={many}
    to={`/${of}?${new URLSearchParams(Object.entries({ state, ...filter }).map(([name, value]) => [name, String(value)])).toString()}`}
  />
);

/** How many there are, and the way to their list. */
export const Listed = ({ many, to }: { many: number; to: string }) =>
  many === 0 ? <span class="quiet">0</span> : <Link to={to}>{number(many)}</Link>;

/** A link to GitHub. What came from a delivery is a link only if it is one of the web. */
export const Outside = ({ to, children }: { to: string; children: ComponentChildren }) =>
  /^https?:\/\//i.test(to) ? (
    <a href={to} target="_blank" rel="noreferrer">
      {children} <span aria-hidden="true">↗</span>
    </a>
  ) : (
    <>{children}</>
  );

export const Dash = () => <span class="quiet">–</span>;

/** A state in a word. Its colour says nothing that the word does not. */
export const Chip = ({ of, tone = toneOf(of) }: { of: string; tone?: string | undefined }) => (
  <span
    class="chip"
    style={tone && { color: `var(--${tone})`, background: `var(--${tone}-ground)` }}
  >
    {of}
  </span>
);

/** A cap: how much of it is in use. */
export const Meter = ({ name, used, limit }: { name: string; used: number; limit: number }) => (
  <li class={used >= limit ? 'meter full' : 'meter'}>
    <span>{name}</span>
    <b>
      {number(used)} / {number(limit)}
    </b>
    <i style={{ inlineSize: `${Math.min(100, (100 * used) / Math.max(1, limit))}%` }} />
  </li>
);

const zoned = (when: string): string => `${instant(when, isLocal.value)} ${zoneName()}`;

const fromNow =
  (said: typeof ago) =>
  ({ at: when }: { at: string }) => (
    <time dateTime={when} title={zoned(when)}>
      {said(when, now.value)}
    </time>
  );

/** How long ago, and the instant itself on hover. */
export const Ago = fromNow(ago);

/** How long until then, or since when it is past. */
export const Until = fromNow(until);

/** How long from one instant to another; null: to now, and it counts on. */
export const Took = ({ from, to = null }: { from: string; to?: string | null }) => (
  <time title={`since ${zoned(from)}`}>{between(from, to, now.value)}</time>
);

export const At = ({ at: when }: { at: string }) => (
  <time dateTime={when} class="mono">
    {instant(when, isLocal.value)}
  </time>
);
