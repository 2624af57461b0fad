import { asRecord } from '@paddock/domain/pools/as-record';
import type { AppClient } from './connect.ts';
import { foundOrNot } from './errors.ts';
import { PER_PAGE, readPages } from './read-pages.ts';

/** Where an App is installed. */
export type GitHubInstallation = {
  readonly id: number;
  readonly appId: number;
  /** The entity's id, which outlives its login. */
  readonly entityId: number;
  readonly login: string;
  readonly entityType: 'Organization' | 'User' | 'Enterprise';
  readonly selection: 'all' | 'selected';
  /** ISO text; null when the App is not suspended. */
  readonly suspendedAt: string | null;
  /** What its owner has accepted of the App's permissions; empty: GitHub does not say. */
  readonly permissions: Readonly<Record<string, string>>;
  /** The page where its owner changes it. */
  readonly settingsUrl: string;
};

/** The App's installation of that id; undefined when GitHub answers 404. */
export async function findInstallation(
  { octokit }: AppClient,
  { id }: { readonly id: number },
): Promise<GitHubInstallation | undefined> {
  return foundOrNot(async () => {
    const { data } = await octokit.rest.apps.getInstallation({ installation_id: id });
    return parseInstallation(data);
  });
}

/** All installations of the App, suspended ones included, but none whose account is gone. */
export async function listInstallations({ octokit }: AppClient): Promise<GitHubInstallation[]> {
  const listed = await readPages(async (page) => {
    const { data, headers } = await octokit.rest.apps.listInstallations({
      per_page: PER_PAGE,
      page,
    });
    return { items: data, link: headers.link };
  });
  return listed.filter(({ account }) => account !== null).map(parseInstallation);
}

export type GitHubAppFacts = {
  readonly permissions: Readonly<Record<string, string>>;
  /** The webhook events of the App. Without `workflow_job` no job is announced. */
  readonly events: readonly string[];
  /** The page where its owner changes it. */
  readonly settingsUrl: string;
  /** When GitHub answered, by its clock, in milliseconds since the epoch. */
  readonly githubTime: number | undefined;
};

/** The App itself, as GitHub knows it. */
export async function getApp({ octokit, appId }: AppClient): Promise<GitHubAppFacts> {
  const { data, headers } = await octokit.rest.apps.getAuthenticated();
  if (data === null) throw new Error(`GitHub answered nothing about App ${appId}.`);
  const { slug, html_url: page } = data;
  const { type, login } = asRecord(data.owner);
  const ofOrganization = type === 'Organization' ? `/organizations/${String(login)}` : '';
  const origin = URL.canParse(page) ? new URL(page).origin : '';
  const time = Date.parse(headers.date ?? '');
  return {
    permissions: textsOf(data.permissions),
    events: data.events,
    settingsUrl: `${origin}${ofOrganization}/settings/apps/${slug}`,
    githubTime: Number.isNaN(time) ? undefined : time,
  };
}

const textsOf = (permissions: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(permissions).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

/** Where GitHub sends the App's deliveries; empty: nowhere. */
export async function getWebhookUrl({ octokit }: AppClient): Promise<string> {
  const { data } = await octokit.rest.apps.getWebhookConfigForApp();
  return data.url ?? '';
}

type InstallationAnswer = Awaited<
  ReturnType<AppClient['octokit']['rest']['apps']['getInstallation']>
>['data'];

function parseInstallation(installation: InstallationAnswer): GitHubInstallation {
  const { account: entity, target_type: type } = installation;
  if (entity === null)
    throw new Error(`GitHub's answer lacks the account of installation ${installation.id}.`);
  return {
    id: installation.id,
    appId: installation.app_id,
    entityId: entity.id,
    login: 'login' in entity ? entity.login : entity.slug,
    entityType: type === 'User' || type === 'Enterprise' ? type : 'Organization',
    selection: installation.repository_selection,
    suspendedAt: installation.suspended_at,
    permissions: textsOf(asRecord(installation.permissions)),
    settingsUrl: installation.html_url,
  };
}
