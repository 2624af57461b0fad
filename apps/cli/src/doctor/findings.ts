/** `mend`: something does not work until a person acts. `unchecked`: nothing is known of it. */
export type Level = 'mend' | 'remark' | 'unchecked';

export type Part = 'configuration' | 'database' | 'services' | 'github' | 'cluster';

export interface Finding {
  readonly level: Level;
  readonly part: Part;
  /** What is wrong, and what to do. */
  readonly sentence: string;
}

/** Collects what one part finds. Sentences need no full stop. */
export function findingsOf(part: Part) {
  const found: Finding[] = [];
  const add =
    (level: Level) =>
    (...sentences: readonly string[]): void => {
      for (const sentence of sentences)
        found.push({ level, part, sentence: `${sentence.replace(/[.\s]+$/, '')}.` });
    };
  return { found, mend: add('mend'), remark: add('remark'), unchecked: add('unchecked') };
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
