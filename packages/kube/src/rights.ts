import { asRecord } from '@paddock/domain/pools/as-record';
import { type EventLog, line, tellEvents } from '@paddock/runtime/events';
import type { Metrics } from '@paddock/runtime/metrics';
import { every } from '@paddock/runtime/pause';
import { callJson, reviewOf } from './call.ts';
import type { Cluster } from './connect.ts';
import { classifyKubeError, isAway } from './errors.ts';

/** What each service uses in a namespace of runners: its Role in deploy/kubernetes. */
const RIGHTS = {
  scheduler: {
    pods: ['create', 'get', 'list', 'watch', 'patch', 'delete'],
    'pods/log': ['get'],
    secrets: ['create', 'get', 'patch', 'delete'],
    events: ['list'],
  },
  reconciler: { pods: ['get', 'delete'], 'pods/log': ['get'], secrets: ['delete'] },
};

/** What the scheduler uses besides where runners have hooks: runner-hooks.yaml there. */
const HOOK_RIGHTS = {
  secrets: ['list'],
  services: ['list', 'delete'],
  'jobs.batch': ['list', 'delete'],
};

type Service = keyof typeof RIGHTS;

/** The rights of a service, as `resource verb`. */
export function rightsOf(service: Service, hasHooks = false): string[] {
  const more = hasHooks && service === 'scheduler' ? HOOK_RIGHTS : {};
  return [...Object.entries<string[]>(RIGHTS[service]), ...Object.entries<string[]>(more)].flatMap(
    ([resource, verbs]) => verbs.map((verb) => `${resource} ${verb}`),
  );
}

/**
 * The rights that a service lacks in a namespace, as `resource verb`. Everybody may ask this of
 * themselves. Throws KubeError.
 */
export async function findMissingRights(
  cluster: Cluster,
  service: Service,
  namespace: string,
  hasHooks: boolean,
): Promise<string[]> {
  const missing: string[] = [];
  for (const right of rightsOf(service, hasHooks)) {
    const [path = '', verb] = right.split(' ');
    const [of = '', subresource] = path.split('/');
    const [resource, group] = of.split('.');
    const spec = { resourceAttributes: { namespace, verb, group, resource, subresource } };
    const answer = await callJson(cluster, reviewOf(spec));
    if (asRecord(asRecord(answer)['status'])['allowed'] === false) missing.push(right);
  }
  return missing;
}

const EVENTS = {
  rightsMissing: (where: { namespace: string; rights: string }) =>
    line.error(
      'this service lacks rights in a namespace of runners: work there waits until its Role and RoleBinding are applied; does the namespace exist?',
      where,
    ),
  rightsUnread: (where: { namespace: string; problem: string }) =>
    line.warn('could not read which rights this service has in a namespace of runners', where),
  rightsComplete: (namespace: string) =>
    line.info('this service has all its rights in a namespace again', { namespace }),
};

/** A change of the namespaces, or of missing rights, is seen this soon. */
const LOOK_MS = 10_000;
/** Rights that are there are asked for again after this time: 12 small calls for a namespace. */
const ASK_MS = 600_000;

/**
 * Follows whether a service has its rights in the namespaces of pools and living workers. Logs each
 * change once. While the cluster does not say, what it said last holds.
 */
export function watchRights({
  cluster,
  service,
  findNamespaces,
  hookNamespaces = () => [],
  log,
  metrics,
}: {
  readonly cluster: Cluster;
  readonly service: Service;
  readonly findNamespaces: () => Promise<readonly string[]>;
  /** Those of them where runners have hooks. */
  readonly hookNamespaces?: () => readonly string[];
  readonly log: EventLog;
  readonly metrics: Pick<Metrics, 'events'>;
}) {
  const events = tellEvents(EVENTS, { log, metrics });
  const missing = new Map<string, string>();
  /** By namespace, why the rights there could not be read; empty: the cluster is away. */
  const unread = new Map<string, string>();
  let asked = '';
  let askAgainAt = 0;

  async function lookAt(namespace: string, hasHooks: boolean): Promise<void> {
    const rights = (await findMissingRights(cluster, service, namespace, hasHooks)).join(', ');
    const before = missing.get(namespace) ?? '';
    if (rights === '') missing.delete(namespace);
    else missing.set(namespace, rights);
    if (rights === '' && before !== '') events.rightsComplete(namespace);
    else if (rights !== before) events.rightsMissing({ namespace, rights });
    unread.delete(namespace);
  }

  function cannotRead(namespace: string, error: unknown): void {
    const failure = classifyKubeError(error);
    // That the cluster is away has its own line.
    const problem = isAway(failure) ? '' : failure.message;
    if (problem !== '' && problem !== unread.get(namespace))
      events.rightsUnread({ namespace, problem });
    unread.set(namespace, problem);
  }

  async function look(): Promise<void> {
    // PostgreSQL is away: the service says so.
    const namespaces = await findNamespaces().catch(() => undefined);
    if (namespaces === undefined) return;
    const hooked = hookNamespaces();
    const all = [...namespaces, '', ...hooked].join();
    const isNew = all !== asked;
    const isDue = performance.now() >= askAgainAt;
    if (!isNew && !isDue && missing.size + unread.size === 0) return;
    for (const gone of [missing, unread])
      for (const namespace of gone.keys())
        if (!namespaces.includes(namespace)) gone.delete(namespace);
    for (const namespace of namespaces)
      await lookAt(namespace, hooked.includes(namespace)).catch((error: unknown) =>
        cannotRead(namespace, error),
      );
    asked = all;
    askAgainAt = performance.now() + ASK_MS;
  }

  return {
    look,
    run: every(LOOK_MS, look),
    /** The missing rights, as a sentence for people, or undefined. */
    warning: (): string | undefined =>
      missing.size === 0
        ? undefined
        : `rights are missing ${[...missing].map(([namespace, rights]) => `in the namespace ${namespace}: ${rights}`).join('; ')}`,
  };
}
