import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Trouble } from '../answers.ts';

/** One input besides the note. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly of?: readonly string[];
  readonly isRequired?: boolean;
}

/** What was done. `shown`: what to say about it; without it the dialog closes. */
type Done = { readonly shown: ComponentChildren } | { readonly trouble: Trouble };

/** What the page asks before something is done. */
export interface Asked {
  /** As `Drain …`. */
  readonly label: string;
  /** What happens, in a sentence; where it is about many, how many. */
  readonly children: ComponentChildren;
  readonly fields?: readonly Field[];
  readonly isGrave?: boolean;
  readonly act: (given: Readonly<Record<string, string>>) => Promise<Done>;
}

/**
 * What is asked now, as it was when it was asked. It stands outside of the views: the row whose
 * button asked may change or go meanwhile.
 */
export const question = signal<Asked | undefined>();
