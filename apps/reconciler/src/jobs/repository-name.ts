import type { RepositoryName } from '@paddock/github/scope';

/** Splits `owner/name`. Undefined for any other text. */
export function parseRepositoryName(fullName: string): RepositoryName | undefined {
  const [owner, repo, ...rest] = fullName.split('/');
  return owner === undefined || owner === '' || repo === undefined || repo === '' || rest.length > 0
    ? undefined
    : { owner, repo };
}
