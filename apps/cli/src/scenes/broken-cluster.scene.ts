import type { Break, Breaks } from './broken-rows.scene.ts';

/** The API server's answer to the dry run of a pod. */
const refuses = (why: string): Break => ({
  act: (world) =>
    world.kube.failNext({
      method: 'POST',
      path: '/pods$',
      status: 403,
      reason: 'Forbidden',
      message: `pods "paddock-dry-run" is forbidden: ${why}`,
    }),
  mend: (world) => world.kube.clearFaults(),
});

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
  'a quota of 0': [
    /: raise the ResourceQuota.*no room for one pod/,
    refuses('exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0'),
  ],
  'a quota that is used up': [
    /exceeded quota: small/,
    {
      ...refuses('exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5'),
      level: 'remark',
    },
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
