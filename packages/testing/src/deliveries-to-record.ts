import { bodyDigest } from '@paddock/domain/deliveries/delivery-bodies';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { examplePayload, type JsonObject } from './signed-delivery.ts';
import type { DeliveryToRecord } from '@paddock/db/deliveries/record-deliveries';

/**
 * A delivery of this body, as ingress hands it on once its signature is checked; each has a new
 * GUID.
 */
export function deliveryToRecord(
  event: string,
  body: JsonObject,
  appId = 41,
  more: Partial<DeliveryToRecord> = {},
): DeliveryToRecord {
  const parsed = parseDelivery(event, body);
  if (parsed.kind === 'malformed') throw new Error(parsed.problem);
  const payload = JSON.stringify(body);
  return {
    guid: crypto.randomUUID(),
    appId,
    parsed,
    payload,
    payloadRepaired: false,
    bodyDigest: bodyDigest({ appId, event }, payload),
    ...more,
  };
}

const POOL = {
  name: 'small',
  labels: ['self-hosted', 'k8s'],
  image: 'runner:1',
  namespace: 'runners',
};
export const pools = {
  version: 1,
  document: poolsDocument.parse({ pools: [POOL], entities: { acme: {}, beta: {} } }),
};
export const ACME = { id: 11, login: 'acme', type: 'Organization' };

interface JobBody {
  readonly labels?: string[];
  readonly owner?: JsonObject;
  readonly job?: JsonObject;
  readonly installation?: number;
  readonly app?: number;
}

/** A delivery of a private repository's job. */
export const ofJob = (
  action: 'queued' | 'in_progress' | 'completed' | 'waiting',
  id: number,
  { labels = ['k8s'], owner = ACME, job = {}, installation = 31, app = 41 }: JobBody = {},
  more: Partial<DeliveryToRecord> = {},
): DeliveryToRecord => {
  const body = examplePayload('workflow_job', action, {
    workflow_job: { id, labels, runner_name: 'machine 1', ...job },
    repository: { id: 21, full_name: 'acme/api', private: true, owner },
    installation: { id: installation },
  });
  return deliveryToRecord('workflow_job', body, app, more);
};

/** A delivery about acme's installation. */
export const ofInstallation = (
  action: 'created' | 'suspend' | 'unsuspend' | 'deleted',
  installation: JsonObject,
): DeliveryToRecord =>
  deliveryToRecord(
    'installation',
    examplePayload('installation', action, {
      installation: { id: 31, account: ACME, repository_selection: 'all', ...installation },
    }),
  );
