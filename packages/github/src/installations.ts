import { id } from '@paddock/domain/deliveries/payload-fields';
import { asRecord } from '@paddock/domain/pools/as-record';
import { z } from 'zod';
import type { AppClient } from './connect.ts';
import { foundOrNot } from './errors.ts';
import { isThat, PER_PAGE, readAnswer, readPages } from './read-answers.ts';

/** What an owner has accepted, or an App asks for: the level by the permission. */
const permissions = z.record(z.string(), z.unknown()).transform(textsOf);

/** For people: nothing is decided by it. */
const address = z.string().catch('');

/** Where an App is installed. */
const installation = z
  .object({
    id,
    app_id: id,
    account: z.union([
      z.object({ id, login: z.string().min(1) }),
      z.object({ id, slug: z.string().min(1) }),
    ]),
    target_type: z.enum(['Organization', 'User', 'Enterprise']).catch('Organization'),
    repository_selection: z.enum(['all', 'selected']),
    suspended_at: z.string().nullish(),
    permissions: permissions.nullish(),
    html_url: address,
  })
  .transform(({ account, ...one }) => ({
    id: one.id,
    appId: one.app_id,
    /** The entity's id, which outlives its login. */
    entityId: account.id,
    login: 'login' in account ? account.login : account.slug,
    entityType: one.target_type,
    selection: one.repository_selection,
    /** ISO text; null when the App is not suspended. */
    suspendedAt: one.suspended_at ?? null,
    /** What its owner has accepted of the App's permissions; empty: GitHub does not say. */
    permissions: one.permissions ?? {},
    /** The page where its owner changes it. */
    settingsUrl: one.html_url,
  }));

export type GitHubInstallation = Readonly<z.infer<typeof installation>>;

/** One without a readable id is not read at all. */
const listedOnes = z.array(z.looseObject({ id }).catch({ id: 0 }));

/** The App's installation of that id; undefined when GitHub answers 404. */
export async function findInstallation(
  { octokit }: AppClient,
  { id: installationId }: { readonly id: number },
): Promise<GitHubInstallation | undefined> {
  return foundOrNot(async () => {
    const answer = await octokit.rest.apps.getInstallation({ installation_id: installationId });
    return readAnswer(answer, isThat(installation, installationId)).data;
  });
}

/**
 * All installations of the App, suspended ones included, but none whose account is gone, and none
 * that cannot be read: a caller that misses one asks for it by its id.
 */
export async function listInstallations({ octokit }: AppClient): Promise<GitHubInstallation[]> {
  const listed = await readPages(async (page) => {
    const answer = await octokit.rest.apps.listInstallations({ per_page: PER_PAGE, page });
    const { data: items, headers } = readAnswer(answer, listedOnes);
    return { items, link: headers.link };
  });
  return listed.flatMap((one) => installation.safeParse(one).data ?? []);
}

const appFacts = z.object({
  html_url: address,
  owner: z.unknown().optional(),
  permissions,
  /** The webhook events of the App. Without `workflow_job` no job is announced. */
  events: z.array(z.string()),
});

export type GitHubAppFacts = Readonly<Pick<z.infer<typeof appFacts>, 'permissions' | 'events'>> & {
  /** The page where its owner changes it. */
  readonly settingsUrl: string;
  /** When GitHub answered, by its clock, in milliseconds since the epoch. */
  readonly githubTime: number | undefined;
};

/** The App itself, as GitHub knows it. */
export async function getApp({ octokit }: AppClient): Promise<GitHubAppFacts> {
  const { data, headers } = readAnswer(await octokit.rest.apps.getAuthenticated(), appFacts);
  const { html_url: page } = data;
  const { type, login } = asRecord(data.owner);
  const ofOrganization = type === 'Organization' ? `/organizations/${String(login)}` : '';
  const origin = URL.canParse(page) ? new URL(page).origin : '';
  const time = Date.parse(headers.date ?? '');
  return {
    permissions: data.permissions,
    events: data.events,
    settingsUrl: `${origin}${ofOrganization}/settings/apps/${page.split('/').at(-1)}`,
    githubTime: Number.isNaN(time) ? undefined : time,
  };
}

function textsOf(levels: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(levels).flatMap(([of, level]) =>
      typeof level === 'string' ? [[of, level]] : [],
    ),
  );
}

/** Where GitHub sends the App's deliveries; empty: nowhere, as of an App that has no webhook (404). */
export async function getWebhookUrl({ octokit }: AppClient): Promise<string> {
  const answer = await foundOrNot(() => octokit.rest.apps.getWebhookConfigForApp());
  return (answer && readAnswer(answer, z.object({ url: z.string().nullish() })).data.url) ?? '';
}
