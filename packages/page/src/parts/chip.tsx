import type { ComponentChildren } from 'preact';

/** How a state feels: good, at work, waiting, bad, over. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'over';

/** A state in a word. Its colour says nothing that the word does not. */
export const Chip = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`chip ${tone}`}>{children}</span>
);
