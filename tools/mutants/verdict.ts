/** What became of a mutant. */
export type Verdict =
  /** By the full name of a test, or by what a row of the fault matrix complained of. */
  | { readonly killedBy: string }
  | { readonly survived: true }
  /** Proves nothing: the changed code does not load, or what should notice it could not run. */
  | { readonly broken: string };
