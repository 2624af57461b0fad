/** The fate of a mutant. */
export type Verdict =
  /** The full name of the failed test, or the complaint of a row of the fault matrix. */
  | { readonly killedBy: string }
  | { readonly survived: true }
  /** Proves nothing: the changed code does not load, or its tests could not run. */
  | { readonly broken: string };
