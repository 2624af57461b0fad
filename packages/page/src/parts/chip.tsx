import type { ComponentChildren } from 'preact';
import { number } from '../text/words.ts';

/** How a state feels: good, at work, waiting, bad, over. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'over';

/** A state in a word. Its colour says nothing that the word does not. */
export const Chip = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`chip ${tone}`}>{children}</span>
);

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
