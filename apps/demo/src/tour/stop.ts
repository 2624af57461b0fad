import type { TourWorld } from './world.ts';

/** What a page of the console shows. */
export interface Sight {
  /** Of the page, as `/jobs/1`. */
  readonly path: string;
  readonly sentence: string;
}

/** One state worth seeing. */
export interface Stop {
  /** How it is caused, in a sentence. */
  readonly cause: string;
  /** What the page says of it. */
  readonly says: RegExp;
  /** Causes it. Resolves with the job whose page explains it, or with another page. */
  play(world: TourWorld): Promise<number | Sight>;
  /** It passes: it is seen alone, before all others, and this ends it. */
  pass?(world: TourWorld): Promise<void>;
}

/** How often a fault strikes that stays for as long as the demo. */
export const ALWAYS = 1_000_000_000;

/** A demo cannot cause it. */
export interface NoStop {
  readonly whyNot: string;
}
