import { randomUUID } from 'node:crypto';
import { badRequest, invalid } from './api-failure.ts';
import { isRecord, KIND, timestamp, type ApiObject, type Resource } from './api-object.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/**
 * Checks a body to be created as the API server would, and completes it with the server's fields.
 * Throws 400 and 422.
 */
export function admit(
  resource: Resource,
  namespace: string | undefined,
  body: unknown,
  now: Date,
): ApiObject {
  if (!isRecord(body)) throw badRequest('the body is no object');
  const kind = KIND[resource];
  const given = isRecord(body['metadata']) ? body['metadata'] : {};
  const name = typeof given['name'] === 'string' ? given['name'] : '';
  if (name === '') throw invalid(kind, name, 'metadata.name', 'Required value: name is required');
  if (name.length > 253 || !SUBDOMAIN.test(name))
    throw invalid(kind, name, 'metadata.name', `Invalid value: "${name}"`);
  checkLabels(kind, name, given['labels']);
  const object: ApiObject = {
    ...body,
    apiVersion: 'v1',
    kind,
    metadata: {
      ...given,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid: randomUUID(),
      resourceVersion: '',
      creationTimestamp: timestamp(now),
    },
  };
  if (resource === 'pods') return admitPod(object);
  if (resource === 'secrets') return admitSecret(object);
  return object;
}

function checkLabels(kind: string, name: string, labels: unknown): void {
  for (const [key, value] of Object.entries(isRecord(labels) ? labels : {})) {
    if (typeof value === 'string' && value.length <= 63 && LABEL_VALUE.test(value)) continue;
    const why = `Invalid value: ${JSON.stringify(value)} of ${key}`;
    throw invalid(kind, name, 'metadata.labels', why);
  }
}

/**
 * Works like a mutating webhook: the annotation names a container to add, which never ends by
 * itself.
 */
export const INJECT = 'test.paddock/inject';

function admitPod(pod: ApiObject): ApiObject {
  const { name } = pod.metadata;
  const spec = isRecord(pod['spec']) ? pod['spec'] : {};
  const containers: unknown = spec['containers'];
  if (!Array.isArray(containers) || containers.length === 0)
    throw invalid('Pod', name, 'spec.containers', 'Required value');
  for (const [index, container] of containers.entries()) {
    for (const field of ['name', 'image']) {
      const value: unknown = isRecord(container) ? container[field] : undefined;
      if (typeof value !== 'string' || value === '')
        throw invalid('Pod', name, `spec.containers[${index}].${field}`, 'Required value');
    }
  }
  const { annotations } = pod.metadata;
  const injected =
    annotations?.[INJECT] === undefined ? [] : [{ name: annotations[INJECT], image: 'injected' }];
  const defaults = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
  };
  return {
    ...pod,
    spec: { ...defaults, ...spec, containers: [...containers, ...injected] },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  };
}

function admitSecret({ stringData, ...secret }: ApiObject): ApiObject {
  const encoded = Object.entries(isRecord(stringData) ? stringData : {}).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  const given = isRecord(secret['data']) ? secret['data'] : {};
  const data: Record<string, unknown> = { ...given, ...Object.fromEntries(encoded) };
  for (const [key, value] of Object.entries(data)) {
    if (Buffer.from(String(value), 'base64').toString('base64') !== value)
      throw badRequest(
        `Secret in version "v1" cannot be handled as a Secret: illegal base64 data in ${key}`,
      );
  }
  return Object.assign(secret, { type: secret['type'] ?? 'Opaque', data });
}
