import { findInstallation, repositoriesOf } from './accounts.ts';
import { issueToken } from './authenticate.ts';
import { redeliver } from './emit.ts';
import { installationJson, nodeId, repositoryFragment, simpleUser } from './fragments.ts';
import { notFound } from './refusal.ts';
import {
  type Answer,
  type AppCall,
  type Route,
  forApp,
  pageOf,
  idParam,
  textParam,
  nextLink,
  perPageOf,
  unlessKnown,
} from './route.ts';
import type { Delivery, Installation, Payload, SimulatedApp, World } from './world.ts';

/** Endpoints for an App's own JSON web token. */
export const appRoutes: readonly Route[] = [
  forApp('get /app', 'apps/get-authenticated', ({ world, app }) => ({
    status: 200,
    body: appJson(world, app),
  })),
  forApp('get /app/installations', 'apps/list-installations', (call) => {
    const { world, app } = call;
    const mine = [...world.installations.values()].filter(({ appId }) => appId === app.appId);
    const { items, headers } = pageOf(call, mine);
    return { status: 200, headers, body: items.map((each) => installationJson(world, each)) };
  }),
  forApp('get /app/installations/:installation_id', 'apps/get-installation', (call) => ({
    status: 200,
    body: installationJson(call.world, ownInstallation(call)),
  })),
  forApp(
    'post /app/installations/:installation_id/access_tokens',
    'apps/create-installation-access-token',
    createToken,
  ),
  forApp('get /app/hook/config', 'apps/get-webhook-config-for-app', ({ app }) => {
    const url = app.webhookUrl ?? 'https://example.com/webhooks/github';
    if (url === '') throw notFound();
    return {
      status: 200,
      body: { content_type: 'json', insecure_ssl: '0', secret: '********', url },
    };
  }),
  forApp('get /app/hook/deliveries', 'apps/list-webhook-deliveries', listDeliveries),
  forApp(
    'post /app/hook/deliveries/:delivery_id/attempts',
    'apps/redeliver-webhook-delivery',
    (call) => {
      redeliver(call.world, ownDelivery(call));
      return { status: 202, body: {} };
    },
  ),
  forApp('get /app/hook/deliveries/:delivery_id', 'apps/get-webhook-delivery', (call) => ({
    status: 200,
    body: deliveryJson(call.world, ownDelivery(call)),
  })),
];

/** The App, as GitHub describes it. */
export const appJson = (world: World, app: SimulatedApp): Payload => ({
  id: app.appId,
  slug: app.slug,
  node_id: nodeId('A', app.appId),
  owner: simpleUser({ id: 9919, login: 'simulated-owner', type: 'Organization' }),
  name: app.slug,
  description: null,
  external_url: 'https://example.com',
  html_url: `${world.url}/apps/${app.slug}`,
  created_at: app.createdAt,
  updated_at: app.createdAt,
  permissions: app.permissions,
  events: app.events,
});

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

/**
 * Newest first. The cursor names the newest delivery of its page, so entries added meanwhile do not
 * shift it. All ids have as many digits.
 */
function listDeliveries(call: AppCall): Answer {
  const { world, app, query } = call;
  const cursor = query.get('cursor');
  const perPage = perPageOf(call);
  const all = world.deliveries.filter(
    ({ appId, id }) => appId === app.appId && (cursor === null || `v1_${id}` <= cursor),
  );
  const next = all.at(-perPage - 1);
  const headers = next === undefined ? {} : { link: nextLink(call, 'cursor', `v1_${next.id}`) };
  const body = all.slice(-perPage).toReversed().map(deliverySummary);
  return unlessKnown(call, { status: 200, headers, body });
}

function ownDelivery(call: AppCall): Delivery {
  const id = textParam(call, 'delivery_id');
  const isIt = (one: Delivery) => one.id === id && one.appId === call.app.appId;
  const delivery = call.world.deliveries.find(isIt);
  if (delivery === undefined) throw notFound();
  return delivery;
}

/** GitHub masks the signatures. Nobody reads what the endpoint answered. */
const deliveryJson = (world: World, delivery: Delivery): Payload => ({
  ...deliverySummary(delivery),
  url: world.url,
  request: {
    headers: { 'X-GitHub-Delivery': delivery.guid, 'X-GitHub-Event': delivery.event },
    payload: delivery.payload,
  },
  response: { headers: {}, payload: null },
});

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
