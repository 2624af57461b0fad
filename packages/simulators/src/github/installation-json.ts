import type { Installation } from './account.ts';
import { simpleUser } from './fragments.ts';
import type { Payload } from './examples.ts';
import type { World } from './world.ts';

/** `installation`, as the API answers it and as `installation` events contain it. */
export function installationJson(world: World, installation: Installation): Payload {
  const { id, account, appId } = installation;
  const app = world.apps.get(appId);
  return {
    id,
    account: simpleUser(account),
    repository_selection: installation.selection,
    access_tokens_url: `${world.url}/app/installations/${id}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `${world.url}/organizations/${account.login}/settings/installations/${id}`,
    app_id: appId,
    app_slug: app?.slug ?? 'gone',
    target_id: account.id,
    target_type: account.type,
    permissions: app?.permissions ?? {},
    events: app?.events ?? [],
    created_at: installation.createdAt,
    updated_at: installation.suspendedAt ?? installation.createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: installation.suspendedAt === null ? null : simpleUser(account),
    suspended_at: installation.suspendedAt,
  };
}
