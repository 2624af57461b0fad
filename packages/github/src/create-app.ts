import {
  APP_EVENTS,
  permissionsFor,
  type ServedByApp,
} from '@paddock/domain/entities/find-app-problems';
import { Secret } from '@paddock/runtime/secret';
import { boundedFetch } from './bounded-fetch.ts';
import { openClient } from './connect.ts';

/** An App that is to be made. */
export interface NewApp {
  /** At most 34 characters, which no other App has. */
  readonly name: string;
  readonly webhookUrl: string;
  /** The organisation that owns it; undefined: the person who makes it. */
  readonly organization: string | undefined;
  /** Others than its owner may install it. */
  readonly isPublic: boolean;
  readonly served: ServedByApp;
}

/** An App as GitHub has made it. */
export interface CreatedApp {
  readonly appId: number;
  /** Its page, for people. */
  readonly url: string;
  /** PEM text. */
  readonly privateKey: Secret;
  readonly webhookSecret: Secret;
}

/**
 * Where people see the GitHub whose API is at an address: https://github.com, an Enterprise Server,
 * or a subdomain of ghe.com.
 */
function webUrlOf(apiUrl: string): string {
  const url = new URL(apiUrl);
  url.hostname = url.hostname.replace(/^api\.(?=github\.com$|.*\.ghe\.com$)/, '');
  return url.origin;
}

/** The API of the GitHub that people see there. */
export function apiUrlOf(webUrl: URL): string {
  const host = webUrl.host.replace(/^www\./, '');
  if (host !== 'github.com' && !host.endsWith('.ghe.com')) return `${webUrl.origin}/api/v3`;
  return `https://api.${host}`;
}

/**
 * What a browser sends to GitHub, which then asks the person there, and comes back to `redirectUrl`
 * with a code: https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
export function formFor(
  { name, webhookUrl, organization, isPublic, served }: NewApp,
  { apiUrl, redirectUrl, state }: { apiUrl: string; redirectUrl: string; state: string },
): { readonly action: string; readonly manifest: string } {
  const owner = organization === undefined ? '' : `/organizations/${organization}`;
  const action = `${webUrlOf(apiUrl)}${owner}/settings/apps/new?state=${state}`;
  const manifest = {
    name,
    url: new URL(webhookUrl).origin,
    hook_attributes: { url: webhookUrl, active: true },
    redirect_url: redirectUrl,
    public: isPublic,
    default_permissions: { metadata: 'read', ...permissionsFor(served) },
    default_events: APP_EVENTS,
  };
  return { action, manifest: JSON.stringify(manifest) };
}

const ANSWER_MS = 30_000;

/**
 * Trades the code for the App's credentials, which GitHub gives once. Throws what the call throws:
 * `classifyGitHubError` says what it means.
 */
export async function receiveApp(apiUrl: string, code: string): Promise<CreatedApp> {
  const fetch = boundedFetch(globalThis.fetch, ANSWER_MS);
  const octokit = openClient({ baseUrl: apiUrl, fetch });
  const { data } = await octokit.rest.apps.createFromManifest({ code });
  return {
    appId: data.id,
    url: data.html_url,
    privateKey: new Secret(data.pem),
    webhookSecret: new Secret(data.webhook_secret ?? ''),
  };
}
