/**
 * Where a runner registers. A runner of an organisation may run any job of its repositories that
 * the runner group admits; a runner of a repository runs that repository's jobs only. Names change,
 * so callers look them up by id just before a call.
 */
export type RegistrationScope =
  | { readonly kind: 'organization'; readonly owner: string }
  | { readonly kind: 'repository'; readonly owner: string; readonly repo: string };

/** A repository as GitHub's paths name it. */
export type RepositoryName = { readonly owner: string; readonly repo: string };
