import type { GitHub } from '@paddock/github/connect';
import { listDeliveries, redeliver, type WebhookDelivery } from '@paddock/github/deliveries';
import type { DeliveryAttempt } from './judge-delivery-log.ts';
import type { DeliveryLog } from './redeliver.ts';

/** An App's delivery log, through GitHub's API. The signal ends calls under way. */
export function deliveryLogAtGitHub(
  github: GitHub,
  appId: number,
  signal: AbortSignal,
): DeliveryLog {
  const app = github.asApp(appId, { signal });
  return {
    async list(cursor) {
      const { deliveries, ...page } = await listDeliveries(
        app,
        cursor === undefined ? {} : { cursor },
      );
      return { ...page, deliveries: deliveries.map(readAttempt) };
    },
    redeliver: (deliveryId) => redeliver(app, deliveryId),
  };
}

function readAttempt(entry: WebhookDelivery): DeliveryAttempt {
  const { id, guid, status, statusCode, event, action, installationId, repositoryId } = entry;
  const isThrottled = entry.throttledAt !== null;
  return {
    id,
    guid,
    deliveredAt: new Date(entry.deliveredAt),
    isThrottled,
    status,
    statusCode,
    event,
    action,
    installationId,
    repositoryId,
  };
}
