import { randomUUID } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';
import { Refusal } from './refusal.ts';
import {
  type Delivery,
  type Installation,
  type Payload,
  type SimulatedApp,
  type World,
  isoNow,
  later,
  nextId,
  strike,
} from './world.ts';

type WebhookEvent = {
  readonly appId: number;
  readonly event: string;
  readonly action: string | null;
  readonly installation: Installation | null;
  readonly repositoryId: number | null;
  readonly payload: Payload;
};

type Attempt = Omit<WebhookEvent, 'installation'> & {
  readonly guid: string;
  readonly installationId: number | null;
  readonly redelivery: boolean;
};

type Outcome = Pick<Delivery, 'status' | 'statusCode'>;

const UNREACHED = { status: 'failed to connect to host', statusCode: 502 };

/** Events that GitHub sends to every App, even without a subscription. */
const ALWAYS_SENT = new Set([
  'installation',
  'installation_repositories',
  'installation_target',
  'github_app_authorization',
  'meta',
  'ping',
]);

/** Sends an event to its App, at once and in the background. GitHub never tries twice by itself. */
export function emit(world: World, { installation, ...event }: WebhookEvent): void {
  const app = world.apps.get(event.appId);
  const { omitActions, dropActions, duplicateRate = 0, lossRate = 0 } = world.deliveryFaults;
  if (app === undefined || (!app.events.includes(event.event) && !ALWAYS_SENT.has(event.event)))
    return;
  if (event.action !== null && omitActions?.includes(event.action) === true) return;
  const attempt = {
    ...event,
    guid: randomUUID(),
    installationId: installation?.id ?? null,
    redelivery: false,
  };
  if (
    (event.action !== null && dropActions?.includes(event.action) === true) ||
    world.isLost(lossRate)
  ) {
    const statusCode = world.deliveryFaults.lossStatusCode ?? 502;
    strike(world, 'delivery_lost');
    record(world, app, attempt, {
      at: world.now(),
      ...UNREACHED,
      statusCode,
    });
    return;
  }
  depart(world, app, attempt);
  if (!world.isDoubled(duplicateRate)) return;
  strike(world, 'delivery_doubled');
  depart(world, app, attempt, { isEcho: true });
}

/**
 * One more attempt, as asked for over the API: the same GUID and payload, signed with the present
 * secret.
 */
export function redeliver(world: World, delivery: Delivery): void {
  const app = world.apps.get(delivery.appId);
  if (app === undefined) throw new Refusal(422, 'The App is gone.');
  depart(world, app, { ...delivery, redelivery: true });
}

function depart(world: World, app: SimulatedApp, attempt: Attempt, { isEcho = false } = {}): void {
  world.deliveriesInFlight += 1;
  const [min, max] = world.deliveryFaults.delayMs ?? [0, 0];
  const delay = min + world.random() * (max - min);
  const send = () => void deliver(world, app, attempt, isEcho);
  if (delay <= 0) return send();
  strike(world, 'delivery_delayed');
  later(world, delay, send);
}

async function deliver(
  world: World,
  app: SimulatedApp,
  attempt: Attempt,
  isEcho: boolean,
): Promise<void> {
  const at = world.now();
  const outcome = await post(world, app, attempt);
  // The log has one attempt, even if the network doubles it.
  if (!isEcho) record(world, app, attempt, { at, ...outcome });
  world.deliveriesInFlight -= 1;
  if (world.deliveriesInFlight > 0) return;
  for (const wake of world.settledWaiters) wake();
  world.settledWaiters.clear();
}

/** Never rejects: a failure on the way becomes the outcome of the attempt. */
async function post(world: World, app: SimulatedApp, attempt: Attempt): Promise<Outcome> {
  if (app.webhookUrl === null) return UNREACHED;
  const body = JSON.stringify(attempt.payload);
  const headers = {
    'User-Agent': 'GitHub-Hookshot/51a8ed3',
    Accept: '*/*',
    'Content-Type': 'application/json',
    'X-GitHub-Delivery': attempt.guid,
    'X-GitHub-Event': attempt.event,
    'X-GitHub-Hook-ID': String(400_000_000 + app.appId),
    'X-GitHub-Hook-Installation-Target-ID': String(app.appId),
    'X-GitHub-Hook-Installation-Target-Type': 'integration',
    'X-Hub-Signature-256': await sign(app.webhookSecret, body),
  };
  try {
    const signal = AbortSignal.timeout(world.deliveryTimeoutMs);
    const response = await fetch(app.webhookUrl, {
      method: 'POST',
      headers,
      body,
      signal,
      redirect: 'manual',
    });
    await response.text();
    const status = response.ok ? 'OK' : `Invalid HTTP Response: ${response.status}`;
    return { status, statusCode: response.status };
  } catch (error) {
    const timedOut =
      typeof error === 'object' &&
      error !== null &&
      'name' in error &&
      error.name === 'TimeoutError';
    return timedOut ? { status: 'timed out', statusCode: 504 } : UNREACHED;
  }
}

const DELIVERY_IDS = 3_804_004_623_000_000_000n;

function record(
  world: World,
  app: SimulatedApp,
  attempt: Attempt,
  { at, ...outcome }: Outcome & { readonly at: number },
): void {
  const { guid, event, action, installationId, repositoryId, payload, redelivery } = attempt;
  world.deliveries.push({
    id: String(DELIVERY_IDS + BigInt(nextId(world, 'delivery'))),
    appId: app.appId,
    guid,
    event,
    action,
    installationId,
    repositoryId,
    payload,
    redelivery,
    deliveredAt: isoNow(world),
    durationSeconds: Math.round(world.now() - at) / 1000,
    ...outcome,
  });
}
