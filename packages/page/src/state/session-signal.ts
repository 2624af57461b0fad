import { signal } from '@preact/signals';
import type { Trouble } from '../answers.ts';

export interface Session {
  /** As `token ci`. */
  readonly person: string;
  readonly access: 'read' | 'operate';
  /** A session that a sign-out ends. False: a proxy says who asks. */
  readonly isSession: boolean;
}

/** Undefined until the console has said; null: nobody has signed in. */
export const session = signal<Session | null | undefined>();

/** Why the console has not said whether somebody has signed in. */
export const unreachable = signal<Trouble | undefined>();

/** Why the link that was opened signs nobody in. */
export const refusedLink = signal<Trouble | undefined>();
