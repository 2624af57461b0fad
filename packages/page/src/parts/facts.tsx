import { duration } from '@paddock/domain/text/duration';
import type { ComponentChildren } from 'preact';
import { Ago, At } from './time.tsx';

/** Names and values; a value that is null has no line. */
export const Facts = ({ of }: { of: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="facts">
    {Object.entries(of).map(
      ([name, value]) =>
        value !== null &&
        value !== undefined &&
        value !== '' && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

interface Moment {
  readonly at: string;
  readonly what: string;
}

/** What happened when, the earliest first, and how long each step took. */
export const Timeline = ({ of }: { of: readonly Moment[] }) => (
  <ol class="timeline">
    {of.map(({ at, what }, index) => {
      const before = of[index - 1];
      return (
        <li key={`${at} ${what}`}>
          <At at={at} />
          <span class="what">{what}</span>
          <span class="after">
            {before === undefined ? (
              <Ago at={at} />
            ) : (
              `+ ${duration(Date.parse(at) - Date.parse(before.at))}`
            )}
          </span>
        </li>
      );
    })}
  </ol>
);
