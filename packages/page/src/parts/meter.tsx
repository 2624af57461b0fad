import { number } from '../text/words.ts';

interface MeterProps {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

/** A cap: how much of it is in use. */
export const Meter = ({ name, used, limit }: MeterProps) => (
  <li class={used >= limit ? 'meter full' : 'meter'}>
    <span>{name}</span>
    <b>
      {number(used)} / {number(limit)}
    </b>
    <i style={{ inlineSize: `${Math.min(100, (100 * used) / Math.max(1, limit))}%` }} />
  </li>
);
