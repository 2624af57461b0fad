/**
 * Says why a body cannot be one of this event, or undefined if it can. The event is a header that nobody signed. Each mark that is
 * looked for stands in every body of its event, and in none of another, so that nothing of GitHub's own is refused.
 */
export function whyMisnamed(event: string, body: object): string | undefined {
  if (event !== 'workflow_job' && 'workflow_job' in body) return 'the body is a workflow_job payload';
  const isOfRepositories = 'repositories_added' in body || 'repositories_removed' in body;
  switch (event) {
    case 'installation':
      if (isOfRepositories) return 'the body is an installation_repositories payload';
      return hasWholeInstallation(body) ? undefined : 'the body only mentions an installation';
    case 'installation_repositories':
      if (!isOfRepositories) return 'the body has neither repositories_added nor repositories_removed';
      return hasWholeInstallation(body) ? undefined : 'the body only mentions an installation';
    default:
      return undefined;
  }
}

/** Other events of an App have an installation too, with nothing but its ids. */
const hasWholeInstallation = (body: object): boolean =>
  'installation' in body &&
  typeof body.installation === 'object' &&
  body.installation !== null &&
  ('account' in body.installation || 'app_id' in body.installation);
