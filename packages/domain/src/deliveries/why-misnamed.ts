/**
 * Says why a body cannot belong to this event, whose header is not signed. Undefined if it can.
 * Each checked field is in every body of its event and in no other, so no delivery of GitHub's is
 * refused.
 */
export function whyMisnamed(event: string, body: object): string | undefined {
  if (event !== 'workflow_job' && 'workflow_job' in body)
    return 'the body is a workflow_job payload';
  const isOfRepositories = 'repositories_added' in body || 'repositories_removed' in body;
  switch (event) {
    case 'installation':
      if (isOfRepositories) return 'the body is an installation_repositories payload';
      return hasWholeInstallation(body) ? undefined : 'the body only mentions an installation';
    case 'installation_repositories':
      if (!isOfRepositories)
        return 'the body has neither repositories_added nor repositories_removed';
      return hasWholeInstallation(body) ? undefined : 'the body only mentions an installation';
    default:
      return undefined;
  }
}

/** Other events have an installation too, but only with its ids. */
const hasWholeInstallation = (body: object): boolean =>
  'installation' in body &&
  typeof body.installation === 'object' &&
  body.installation !== null &&
  ('account' in body.installation || 'app_id' in body.installation);
