import { sharedAppKey } from '@paddock/testing/stand-ins';
import {
  startGitHubSimulator,
  type GitHubSimulator,
  type GitHubSimulatorOptions,
} from '../github/start-github-simulator.ts';

/** An account with the App's installation on it; `id` and `entityId` are the same. */
type SmallAccount = {
  readonly id: number;
  readonly entityId: number;
  readonly appId: number;
  readonly installationId: number;
};

export type SmallWorld = {
  readonly github: GitHubSimulator;
  readonly appId: number;
  readonly privateKeyPem: string;
  readonly webhookSecret: string;
  /** The organisation `acme` with the private repository `acme/api` and the public `acme/site`. */
  readonly organization: SmallAccount & { readonly login: 'acme' };
  /** The person `mona` with the private repository `mona/tool`. */
  readonly user: SmallAccount & { readonly login: 'mona' };
  readonly repositories: { readonly api: number; readonly site: number; readonly tool: number };
};

type SmallWorldOptions = Omit<GitHubSimulatorOptions, 'apps'> & { readonly webhookUrl?: string };

/**
 * A GitHub with one App, installed on one organisation and on one person. Its installations are not
 * announced.
 */
export async function startSmallWorld({
  webhookUrl,
  ...options
}: SmallWorldOptions = {}): Promise<SmallWorld> {
  const appId = 1234;
  const webhookSecret = 'the secret of the small world';
  const { privateKeyPem, publicKeyPem } = sharedAppKey();
  const github = await startGitHubSimulator({
    ...options,
    apps: [{ appId, publicKeyPem, webhookSecret, webhookUrl: webhookUrl ?? null }],
  });
  const acme = await github.addOrganization({ login: 'acme' });
  const mona = await github.addUser({ login: 'mona' });
  const api = await github.addRepository({ owner: 'acme', name: 'api' });
  const site = await github.addRepository({ owner: 'acme', name: 'site', private: false });
  const tool = await github.addRepository({ owner: 'mona', name: 'tool' });
  const onAcme = await github.install({ appId, account: 'acme', announce: false });
  const onMona = await github.install({ appId, account: 'mona', announce: false });
  return {
    github,
    appId,
    privateKeyPem,
    webhookSecret,
    organization: {
      login: 'acme',
      id: acme.id,
      entityId: acme.id,
      appId,
      installationId: onAcme.id,
    },
    user: { login: 'mona', id: mona.id, entityId: mona.id, appId, installationId: onMona.id },
    repositories: { api: api.id, site: site.id, tool: tool.id },
  };
}

/** The columns of our database about an account's installation. */
export const installationOf = ({
  login,
  id,
  appId,
  installationId,
}: SmallAccount & { readonly login: string }) => ({
  entity_id: id,
  login,
  app_id: appId,
  installation_id: installationId,
});
