import {
  type Installation,
  covers,
  findAccount,
  findInstallation,
  findInstallationOf,
  repositoriesOf,
} from './accounts.ts';
import { issueToken } from './authenticate.ts';
import { findDelivery, pageOfDeliveries, type Delivery } from './delivery-log.ts';
import { redeliver } from './emit.ts';
import {
  type Payload,
  nodeId,
  repositoryFragment,
  simpleUser,
  installationJson,
} from './fragments.ts';
import {
  link,
  pageOf,
  perPageOf,
  notFound,
  idParam,
  textParam,
  type AppCall,
  type Route,
} from './route.ts';
import { repositoryOf } from './reach.ts';

/** Endpoints for an App's own JSON web token. */
export const appRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/app',
    operation: 'apps/get-authenticated',
    caller: 'app',
    answer: getApp,
  },
  {
    method: 'get',
    path: '/app/installations',
    operation: 'apps/list-installations',
    caller: 'app',
    answer: (call) => {
      const mine = [...call.world.installations.values()].filter(
        ({ appId }) => appId === call.app.appId,
      );
      const { items, headers } = pageOf(call, mine);
      return {
        status: 200,
        headers,
        body: items.map((installation) => installationJson(call.world, installation)),
      };
    },
  },
  {
    method: 'get',
    path: '/app/installations/:installation_id',
    operation: 'apps/get-installation',
    caller: 'app',
    answer: (call) => ({ status: 200, body: installationJson(call.world, ownInstallation(call)) }),
  },
  {
    method: 'post',
    path: '/app/installations/:installation_id/access_tokens',
    operation: 'apps/create-installation-access-token',
    caller: 'app',
    answer: createToken,
  },
  {
    method: 'get',
    path: '/orgs/:org/installation',
    operation: 'apps/get-org-installation',
    caller: 'app',
    answer: (call) =>
      installationAnswer(
        call,
        findInstallationOf(
          call.world,
          call.app.appId,
          findAccount(call.world, textParam(call, 'org')),
        ),
      ),
  },
  {
    method: 'get',
    path: '/repos/:owner/:repo/installation',
    operation: 'apps/get-repo-installation',
    caller: 'app',
    answer: (call) => {
      const repository = repositoryOf(call);
      return installationAnswer(
        call,
        [...call.world.installations.values()].find(
          (each) => each.appId === call.app.appId && covers(each, repository),
        ),
      );
    },
  },
  {
    method: 'get',
    path: '/app/hook/deliveries',
    operation: 'apps/list-webhook-deliveries',
    caller: 'app',
    answer: listDeliveries,
  },
  {
    method: 'post',
    path: '/app/hook/deliveries/:delivery_id/attempts',
    operation: 'apps/redeliver-webhook-delivery',
    caller: 'app',
    answer: (call) => {
      redeliver(
        call.world,
        findDelivery(call.world.deliveries, call.app.appId, textParam(call, 'delivery_id')),
      );
      return { status: 202, body: {} };
    },
  },
];

function getApp({ world, app }: AppCall) {
  const owner = {
    id: 9919,
    login: 'simulated-owner',
    type: 'Organization',
    hasRunnerGroups: false,
    runnerGroups: [],
  } as const;
  const body = {
    id: app.appId,
    slug: app.slug,
    node_id: nodeId('A', app.appId),
    client_id: `Iv1.${app.appId.toString(16).padStart(16, '0')}`,
    owner: simpleUser({ ...owner, runnerGroups: [] }),
    name: app.slug,
    description: null,
    external_url: 'https://example.com',
    html_url: `${world.url}/apps/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: app.events,
    installations_count: [...world.installations.values()].filter(
      ({ appId }) => appId === app.appId,
    ).length,
  };
  return { status: 200, body };
}

function createToken(call: AppCall) {
  const installation = ownInstallation(call);
  const { token, expiresAt } = issueToken(call.world, installation);
  const body = {
    token,
    expires_at: expiresAt,
    permissions: call.app.permissions,
    repository_selection: installation.selection,
    ...(installation.selection === 'all'
      ? {}
      : { repositories: repositoriesOf(call.world, installation).map(repositoryFragment) }),
  };
  return { status: 201, body };
}

function ownInstallation(call: AppCall): Installation {
  const installation = findInstallation(call.world, idParam(call, 'installation_id'));
  if (installation.appId !== call.app.appId) throw notFound();
  return installation;
}

function installationAnswer({ world }: AppCall, installation: Installation | undefined) {
  if (installation === undefined) throw notFound();
  return { status: 200, body: installationJson(world, installation) };
}

function listDeliveries(call: AppCall) {
  const { query, world, app } = call;
  const page = {
    perPage: perPageOf(call),
    cursor: query.get('cursor'),
  };
  const { deliveries, nextCursor } = pageOfDeliveries(world.deliveries, app.appId, page);
  const headers = nextCursor === null ? {} : { link: link(call, { cursor: nextCursor }, 'next') };
  return { status: 200, headers, body: deliveries.map(deliverySummary) };
}

/** A number with all its digits, as in GitHub's JSON. */
const numeral = (digits: string): unknown =>
  (JSON as unknown as { rawJSON: (json: string) => object }).rawJSON(digits);

function deliverySummary(delivery: Delivery): Payload {
  return {
    id: numeral(delivery.id),
    guid: delivery.guid,
    delivered_at: delivery.deliveredAt,
    redelivery: delivery.redelivery,
    duration: delivery.durationSeconds,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  };
}
