import type { RepositoryName } from '@paddock/github/scope';

/** `owner/name` in its parts; undefined if it is not that. */
export function parseRepositoryName(fullName: string): RepositoryName | undefined {
  const [owner, repo, ...rest] = fullName.split('/');
  return owner === undefined || owner === '' || repo === undefined || repo === '' || rest.length > 0 ? undefined : { owner, repo };
}
