/** One change of the code that breaks one promise. */
export interface Change {
  /** The broken promise, as one sentence without a full stop; unique. */
  readonly mutant: string;
  /** The changed file, from the root of the checkout. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** A change that tests must notice. */
export interface MutantOfTests extends Change {
  /** The test files that must fail, from the root of the checkout; the fewest that do. */
  readonly tests: readonly string[];
}

/** A change that a row of the fault matrix must notice. */
export interface MutantOfRow extends Change {
  /** The name of the row, as `pnpm bench faults --fault` takes it. */
  readonly row: string;
  /** How many jobs the row needs to notice; the fewest that do. */
  readonly jobs: number;
}

export type NamedMutant = MutantOfTests | MutantOfRow;
