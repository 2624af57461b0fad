/** The worst first. `mend`: it does not work until a person acts. `unchecked`: nothing is known. */
export const LEVELS = ['mend', 'remark', 'unchecked'] as const;

export type Level = (typeof LEVELS)[number];

/** The worst first: what holds up all else. */
export const PARTS = ['configuration', 'database', 'services', 'github', 'cluster'] as const;

export type Part = (typeof PARTS)[number];

export interface Finding {
  readonly level: Level;
  readonly part: Part;
  /** What is wrong, and what to do. */
  readonly sentence: string;
}

const rankOf = ({ level, part }: Finding): number =>
  LEVELS.indexOf(level) * PARTS.length + PARTS.indexOf(part);

export const worstFirst = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => rankOf(a) - rankOf(b));

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
