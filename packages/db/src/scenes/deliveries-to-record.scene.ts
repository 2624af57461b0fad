import { bodyDigest } from '@paddock/domain/deliveries/body-digest';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { examplePayload, type JsonObject } from '@paddock/testing/signed-delivery';
import type { DeliveryToRecord } from '../deliveries/record-deliveries.ts';

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

export function delivery(
  event: string,
  body: JsonObject,
  more: Partial<DeliveryToRecord> = {},
): DeliveryToRecord {
  const parsed = parseDelivery(event, body);
  if (parsed.kind === 'malformed') throw new Error(parsed.problem);
  const payload = JSON.stringify(body);
  const digest = bodyDigest({ appId: 41, event }, payload);
  return {
    guid: crypto.randomUUID(),
    appId: 41,
    parsed,
    payload,
    payloadRepaired: false,
    bodyDigest: digest,
    ...more,
  };
}

export const jobBody = (
  action: 'queued' | 'in_progress' | 'completed' | 'waiting',
  id: number,
  labels = ['k8s'],
  owner: JsonObject = ACME,
) =>
  examplePayload('workflow_job', action, {
    workflow_job: { id, labels, runner_name: 'machine 1' },
    repository: { id: 21, full_name: 'acme/api', private: true, owner },
    installation: { id: 31 },
  });

export const installationBody = (
  action: 'created' | 'suspend' | 'unsuspend' | 'deleted',
  installation: JsonObject,
) =>
  examplePayload('installation', action, {
    installation: { id: 31, account: ACME, repository_selection: 'all', ...installation },
  });

export const reduced = () => '{"reduced":true}';

/** When an entity's name was stated twice. */
export const SECOND = '2026-01-02T00:00:00Z';

/** The entity has another login. */
export const renamed = (login: string, at = SECOND) => {
  const entity = { id: 11, login, updated_at: at };
  return delivery('installation_target', {
    action: 'renamed',
    account: entity,
    target_type: 'Organization',
    installation: { id: 31 },
  });
};

/** A job of that second, of the entity under this login. */
export const jobUnder = (login: string) => {
  const body = jobBody('queued', 900, ['k8s'], { ...ACME, login });
  const times = { created_at: SECOND, started_at: SECOND };
  return delivery('workflow_job', {
    ...body,
    workflow_job: { ...(body['workflow_job'] as JsonObject), ...times },
  });
};
