import { signal } from '@preact/signals';
import type { Trouble } from './trouble.ts';

export interface Session {
  /** As `token ci`. */
  readonly person: string;
  readonly access: 'read' | 'operate';
}

/** Undefined until the console has said; null: nobody has signed in. */
export const session = signal<Session | null | undefined>();

/** Why the console has not said whether somebody has signed in. */
export const unreachable = signal<Trouble | undefined>();
