import type { ComponentChildren } from 'preact';

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
