import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { HOOKS_VARIABLE, templateRunner } from '@paddock/domain/pools/pod-template';
import { stringify } from 'yaml';
import { textOf } from './runner-set.ts';

type Mapping = Record<string, unknown>;

const core = (resource: string, ...verbs: string[]) => ({
  apiGroups: [''],
  resources: [resource],
  verbs,
});

/** What the hooks of kubernetes mode may do in their namespace, as the chart lets them. */
export function hookRules(spec: Mapping, more: unknown = []): unknown[] {
  const variables = asList(templateRunner({ spec })?.['env']).map(asRecord);
  const script = textOf(variables.find(({ name }) => name === HOOKS_VARIABLE)?.['value']);
  const jobs = { ...core('jobs', 'get', 'list', 'create', 'delete'), apiGroups: ['batch'] };
  return [
    core('pods', 'get', 'list', 'create', 'delete'),
    core('pods/exec', 'get', 'create'),
    core('pods/log', 'get', 'list', 'watch'),
    core('secrets', 'get', 'list', 'create', 'delete'),
    ...(script?.includes('novolume') === true ? [] : [jobs]),
    ...asList(more),
  ];
}

/** The pod's keys with an account of the pool's own: the old one goes with its release. */
export function withAccount(pod: Mapping, serviceAccountName: string): Mapping {
  const template = asRecord(pod['template']);
  return {
    ...pod,
    template: { ...template, spec: { ...asRecord(template['spec']), serviceAccountName } },
  };
}

export function accountCommand(name: string, namespace: string, rules: readonly unknown[]): string {
  const metadata = { name, namespace };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion, kind: 'Role', metadata, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
  const text = objects
    .map((one) => stringify(one, { aliasDuplicateObjects: false, lineWidth: 0 }))
    .join('---\n');
  return `kubectl apply -f - <<'END'\n${text}END`;
}
