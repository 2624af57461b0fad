import type { Endpoint } from '@paddock/api/endpoint';
import type { z } from 'zod';

export type Fields = Readonly<Record<string, unknown>>;

/** Puts questions to endpoints, wherever the answers are. */
export interface Asker {
  readonly name: string;
  /** Takes raw fields that fit the endpoint's input. Rejects with a NoAnswer. */
  ask<I extends z.ZodObject, O extends z.ZodType>(
    endpoint: Endpoint<I, O>,
    fields: Fields,
  ): Promise<z.input<O>>;
  /** Also ends what is under way, as far as that can be ended. */
  close(): Promise<void>;
}

/** The message is for the person at the terminal: what was asked in vain, why, what to do. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}
