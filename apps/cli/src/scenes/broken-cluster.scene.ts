import type { Break, Breaks } from './broken-rows.scene.ts';

/** The API server's answer to the dry run of a pod. */
const refuses = (message: string, status = 403, reason = 'Forbidden'): Break => ({
  act: (world) =>
    world.kube.failNext({ method: 'POST', path: '/pods$', status, reason, message, times: 1 }),
  mend: (world) => world.kube.clearFaults(),
});
const onPods = (why: string) => `pods "paddock-dry-run" is forbidden: ${why}`;

const template = (spec: object) => ({
  configure: ({ pools: [pool], ...rest }: { pools: readonly object[] }) => ({
    ...rest,
    pools: [{ ...pool, template: { spec: { containers: [], ...spec } } }],
  }),
});

export const CLUSTER: Breaks = {
  'an API server that does not answer': [
    /The cluster cannot be asked: .*; check the kubeconfig/,
    { act: (world) => world.kube.failNext({ path: '/version' }) },
  ],
  'credentials that the cluster does not know': [
    /The cluster cannot be asked: .*401 Unauthorized/,
    {
      act: (world) =>
        world.kube.failNext({ path: '/version', status: 401, reason: 'Unauthorized', message: '' }),
    },
  ],
  'a kubeconfig that is not there': [
    /kubeconfig file \/no\/such cannot be read/,
    { environment: () => ({ PADDOCK_KUBECONFIG: '/no/such' }) },
  ],
  'a kubeconfig without a context': [
    /current context of the kubeconfig file \S+ has no cluster/,
    { environment: (given) => ({ PADDOCK_KUBECONFIG: given.PADDOCK_CONFIG }) },
  ],
  'no cluster': [
    /The cluster was not checked: PADDOCK_KUBECONFIG is not set/,
    { level: 'unchecked', environment: () => ({ PADDOCK_KUBECONFIG: undefined }) },
  ],
  'a verb that the scheduler lacks': [
    /Rights are missing in the namespace runners: pods create, secrets patch\. Apply the Role/,
    {
      act: (world) => world.kube.denyRights('pods create', 'secrets patch'),
      mend: (world) => world.kube.denyRights(),
    },
  ],
  'a namespace that is not there': [
    /takes no pod of the pool linux .*: create the namespace/,
    {
      configure: ({ pools: [pool], ...rest }) => ({
        ...rest,
        pools: [{ ...pool, namespace: 'gone' }],
      }),
    },
  ],
  'a namespace that is being deleted': [
    /: the namespace is being deleted: create it again/,
    refuses(
      onPods('unable to create new content in namespace runners because it is being terminated'),
    ),
  ],
  'a quota of 0': [
    /: raise the ResourceQuota.*no room for one pod/,
    refuses(onPods('exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0')),
  ],
  'a quota that is used up': [
    /exceeded quota: small/,
    {
      ...refuses(onPods('exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5')),
      level: 'remark',
    },
  ],
  'Pod Security that refuses the pod': [
    /: give the pool's template the securityContext/,
    refuses(onPods('violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false')),
  ],
  'a PriorityClass that is not there': [
    /: create the PriorityClass, or correct priorityClassName/,
    refuses(onPods('no PriorityClass with name gpu was found')),
  ],
  'a RuntimeClass that is not there': [
    /: create the RuntimeClass, or correct runtimeClassName/,
    refuses(onPods('pod rejected: RuntimeClass "kata" not found')),
  ],
  'a service account that is not there': [
    /: create the service account, or correct serviceAccountName/,
    refuses(onPods('error looking up service account runners/ci: serviceaccount "ci" not found')),
  ],
  'a LimitRange that the pod exceeds': [
    /: change requests and limits .* or the LimitRange/,
    refuses(onPods('maximum cpu usage per Container is 1, but limit is 2')),
  ],
  'a webhook that denies the pod': [
    /: exempt Paddock's namespace from this webhook/,
    refuses('admission webhook "policy.example.com" denied the request: no latest'),
  ],
  'a policy of the cluster that denies the pod': [
    /: exempt Paddock's namespace from this webhook or policy/,
    refuses(
      onPods("ValidatingAdmissionPolicy 'tags' with binding 'all' denied request: no latest"),
    ),
  ],
  'a security context constraint of OpenShift': [
    /: let the pool's service account use a constraint/,
    refuses(
      onPods(
        'unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or serviceaccount]',
      ),
    ),
  ],
  'a quota by priority that counts the pod nowhere': [
    /: add a ResourceQuota that counts the priority class/,
    refuses(onPods('insufficient quota to match these scopes: [{PriorityClass In [high]}]')),
  ],
  'node selectors that the namespace does not allow': [
    /: correct nodeSelector or tolerations/,
    refuses(onPods('pod node label selector conflicts with its namespace node label selector')),
  ],
  'an etcd that is full': [
    /: mend the cluster's etcd/,
    refuses('etcdserver: mvcc: database space exceeded', 500, 'InternalError'),
  ],
  'a webhook that is away': [
    /: mend or remove this webhook/,
    refuses(
      'failed calling webhook "policy.example.com": connection refused',
      500,
      'InternalError',
    ),
  ],
  'a quota of 0 for Secrets': [
    /takes no Secret of the pool linux .*exceeded quota: none.*: let the namespace runners have one/,
    {
      act: (world) =>
        world.kube.failNext({
          method: 'POST',
          path: '/secrets$',
          status: 403,
          reason: 'Forbidden',
          message: 'secrets "paddock-dry-run" is forbidden: exceeded quota: none, requested',
        }),
    },
  ],
  'a template that the cluster does not take': [
    /: correct the pool's template/,
    refuses('Pod "paddock-dry-run" is invalid: spec.tolerations[0]: Invalid value', 422, 'Invalid'),
  ],
  'a pull secret that is not there': [
    /names the Secret registry, which is not in the namespace runners: create it/,
    template({ imagePullSecrets: [{ name: 'registry' }] }),
  ],
  'a Secret with a variable that is not there': [
    /names the Secret npm, which is not in the namespace runners: create it/,
    template({
      containers: [
        {
          name: 'runner',
          env: [
            { name: 'A', valueFrom: { secretKeyRef: { name: 'npm', key: 'token' } } },
            { name: 'B', valueFrom: { secretKeyRef: { name: 'b', key: 'b', optional: true } } },
          ],
        },
      ],
    }),
  ],
  'a Secret with all variables that is not there': [
    /names the Secret npm, which/,
    template({ containers: [{ name: 'runner', envFrom: [{ secretRef: { name: 'npm' } }] }] }),
  ],
  'a Secret with files that is not there': [
    /names the Secret certificates, which/,
    template({ volumes: [{ name: 'tls', secret: { secretName: 'certificates' } }] }),
  ],
};
