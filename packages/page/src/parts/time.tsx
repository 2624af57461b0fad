import { now } from '../state/clock.ts';
import { ago, between, instant, until } from '../text/words.ts';

/** How long ago, and the instant itself on hover. */
export const Ago = ({ at }: { at: string }) => (
  <time dateTime={at} title={`${instant(at)} UTC`}>
    {ago(at, now.value)}
  </time>
);

/** How long until then; `now` once it is past. */
export const Until = ({ at }: { at: string }) => (
  <time dateTime={at} title={`${instant(at)} UTC`}>
    {until(at, now.value)}
  </time>
);

/** How long from one instant to another; null: to now, and it counts on. */
export const Took = ({ from, to }: { from: string; to: string | null }) => (
  <time title={`since ${instant(from)} UTC`}>{between(from, to, now.value)}</time>
);

/** An instant as it is stored. */
export const At = ({ at }: { at: string }) => (
  <time dateTime={at} class="mono">
    {instant(at)}
  </time>
);
