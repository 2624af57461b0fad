import { duration } from '@paddock/domain/text/duration';
import { Ago, At } from './time.tsx';

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
