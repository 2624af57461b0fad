import { randomUUID } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';
import { post } from '../post.ts';
import { Refusal } from './refusal.ts';
import {
  type Delivery,
  type Installation,
  type SimulatedApp,
  type World,
  isoNow,
  later,
  nextId,
  strike,
} from './world.ts';

type Outcome = Pick<Delivery, 'status' | 'statusCode'>;
type Attempt = Omit<Delivery, 'id' | 'deliveredAt' | 'durationSeconds' | keyof Outcome>;
type WebhookEvent = Pick<Delivery, 'event' | 'action' | 'repositoryId' | 'payload'> & {
  readonly installation: Installation;
};

const UNREACHED = { status: 'failed to connect to host', statusCode: 502 };

/**
 * Sends an event to the App of the installation, at once and in the background. GitHub never tries
 * twice by itself. Events of installations need no subscription.
 */
export function emit(world: World, { installation, ...event }: WebhookEvent): void {
  const { appId, id: installationId } = installation;
  const app = world.apps.get(appId);
  const { omitActions, dropActions, duplicateRate = 0, lossRate = 0 } = world.deliveryFaults;
  const isSent = event.event !== 'workflow_job' || app?.events.includes(event.event) === true;
  if (app === undefined || !isSent || omitActions?.includes(event.action) === true) return;
  const attempt = { ...event, appId, installationId, guid: randomUUID(), redelivery: false };
  if (dropActions?.includes(event.action) === true || world.isLost(lossRate)) {
    const { lossStatusCode: statusCode = 502 } = world.deliveryFaults;
    strike(world, 'delivery_lost');
    record(world, attempt, { at: world.now(), ...UNREACHED, statusCode });
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
  const outcome = await postAttempt(world, app, attempt);
  // The log has one attempt, even if the network doubles it.
  if (!isEcho) record(world, attempt, { at, ...outcome });
  world.deliveriesInFlight -= 1;
  if (world.deliveriesInFlight > 0) return;
  for (const wake of world.settledWaiters) wake();
  world.settledWaiters.clear();
}

/** Never rejects: a failure on the way becomes the outcome of the attempt. */
async function postAttempt(world: World, app: SimulatedApp, attempt: Attempt): Promise<Outcome> {
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
  const signal = AbortSignal.timeout(world.deliveryTimeoutMs);
  try {
    const { status: statusCode } = await post(app.webhookUrl, { headers, body, signal });
    const isOk = statusCode >= 200 && statusCode < 300;
    return { status: isOk ? 'OK' : `Invalid HTTP Response: ${statusCode}`, statusCode };
  } catch {
    return signal.aborted ? { status: 'timed out', statusCode: 504 } : UNREACHED;
  }
}

const DELIVERY_IDS = 3_804_004_623_000_000_000n;

function record(
  world: World,
  attempt: Attempt,
  { at, ...outcome }: Outcome & { readonly at: number },
): void {
  world.deliveries.push({
    ...attempt,
    id: String(DELIVERY_IDS + BigInt(nextId(world, 'delivery'))),
    deliveredAt: isoNow(world),
    durationSeconds: Math.round(world.now() - at) / 1000,
    ...outcome,
  });
}
