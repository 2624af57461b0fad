import { asRecord } from '@paddock/domain/pools/as-record';
import {
  added,
  githubScope,
  marksOf,
  numberOf,
  type RunnerSet,
  said,
  textOf,
  textsOf,
  withRunner,
} from './runner-set.ts';
import { hookRules } from './hook-account.ts';

type Mapping = Record<string, unknown>;

const PREFIX = 'actions.github.com/';
const CLEANUP = `${PREFIX}cleanup-`;

/** Belong to one pod or to Paddock, or say to Argo CD what it may prune. */
const NOT_CARRIED = new Set([
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/instance',
  'argocd.argoproj.io/instance',
  'pod-template-hash',
  'runner-template-hash',
]);

/** Kept of the chart's `values`, beside what an AutoscalingRunnerSet says. */
export interface Beside {
  readonly pod?: Mapping;
  readonly appId?: number | undefined;
  readonly rules?: unknown;
  readonly notes?: readonly string[];
}

/** An AutoscalingRunnerSet, as the cluster or the chart has it. */
export function fromScaleSet(object: Mapping, from: string, beside: Beside = {}): RunnerSet {
  const metadata = asRecord(object['metadata']);
  const spec = asRecord(object['spec']);
  const annotations = marksOf(metadata['annotations']);
  const own = textOf(metadata['name']) ?? '';
  const name =
    textOf(spec['runnerScaleSetName']) ?? annotations[`${PREFIX}runner-scale-set-name`] ?? own;
  const url = textOf(spec['githubConfigUrl']);
  const secret = textOf(spec['githubConfigSecret']);
  const notes = [...(beside.notes ?? [])];
  if (Object.keys(asRecord(spec['vaultConfig'])).length > 0)
    notes.push(
      `vaultConfig: Paddock reads no vault: have the App's key put into a Secret, as by External Secrets`,
    );
  if (spec['githubServerTLS'] !== undefined && beside.pod?.['caBundle'] === undefined)
    notes.push(
      'githubServerTLS: the runners trust it as before; Paddock itself needs the certificate too (docs/network.md)',
    );
  const template = asRecord(spec['template']);
  const proxied = withProxy(asRecord(template['spec']), spec['proxy'], notes);
  const { restartPolicy: _always, serviceAccountName: account, ...rest } = proxied.spec;
  const isOf = (mode: string) =>
    account !== undefined && account === annotations[`${CLEANUP}${mode}-service-account-name`];
  // The chart's accounts go with its release. One without rights is worth nothing.
  const podSpec = isOf('no-permission') ? rest : said({ ...rest, serviceAccountName: account });
  const role = annotations[`${CLEANUP}kubernetes-mode-role-name`];
  if (isOf('kubernetes-mode') && role !== undefined)
    notes.push(
      `template.spec.serviceAccountName: the pool gets an account of its own; if \`kubectl get role ${role} -o yaml\` has more rules, add them to its Role`,
    );
  return {
    from,
    name,
    namespace: textOf(metadata['namespace']),
    url,
    labels: [name],
    scaleSetLabels: textsOf(spec['runnerScaleSetLabels']),
    runnerGroup: textOf(spec['runnerGroup']),
    min: numberOf(spec['minRunners']) ?? 0,
    max: numberOf(spec['maxRunners']),
    credentials: { secret, appId: beside.appId },
    accountRules: isOf('kubernetes-mode') ? hookRules(podSpec, beside.rules) : undefined,
    pod: said({
      ...beside.pod,
      proxy: proxied.proxy,
      template: { metadata: podMarks(object, own || name, url), spec: podSpec },
    }),
    notes,
  };
}

function podMarks(object: Mapping, name: string, url: string | undefined): Mapping {
  const metadata = asRecord(object['metadata']);
  const spec = asRecord(object['spec']);
  const given = asRecord(asRecord(spec['template'])['metadata']);
  const metas = [spec['ephemeralRunnerMetadata'], spec['ephemeralRunnerSetMetadata']].map(asRecord);
  const scope = githubScope(url ?? '');
  const labels: Readonly<Record<string, string>> = {
    ...Object.assign({}, ...metas.map((one) => marksOf(one['labels']))),
    ...marksOf(metadata['labels']),
    'app.kubernetes.io/part-of': 'gha-runner-scale-set',
    'app.kubernetes.io/component': 'runner',
    [`${PREFIX}scale-set-name`]: name,
    ...said({ [`${PREFIX}scale-set-namespace`]: textOf(metadata['namespace']) }),
    ...said({
      [`${PREFIX}enterprise`]: labelValue(scope?.enterprise),
      [`${PREFIX}organization`]: labelValue(scope?.login),
      [`${PREFIX}repository`]: labelValue(scope?.repository),
    }),
    ...marksOf(given['labels']),
    'actions-ephemeral-runner': 'True',
  };
  const annotations = {
    ...Object.assign({}, ...metas.map((one) => marksOf(one['annotations']))),
    ...marksOf(given['annotations']),
  };
  return {
    labels: Object.fromEntries(
      Object.entries(labels).filter(
        ([key, value]) => !NOT_CARRIED.has(key) && LABEL_VALUE.test(value),
      ),
    ),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}

/** The cluster refuses a pod with any other, as one that another program was to fill in. */
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/;

/** As the old controller cuts what a label cannot hold. */
const labelValue = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= 63
    ? text?.replace(/^[-_.]+|[-_.]+$/g, '')
    : `${text.slice(0, 58)}-trim`;

/** With a Secret of name and password, the runner's container puts its variables together. */
function withProxy(
  spec: Mapping,
  given: unknown,
  notes: string[],
): { readonly spec: Mapping; readonly proxy?: Mapping } {
  const proxy = asRecord(given);
  const sides = (['http', 'https'] as const).flatMap((side) => {
    const { url, credentialSecretRef } = asRecord(proxy[side]);
    const address = textOf(url);
    return address === undefined ? [] : [{ side, address, secret: textOf(credentialSecretRef) }];
  });
  const noProxy = textsOf(proxy['noProxy']);
  if (sides.length === 0) return { spec };
  if (sides.every(({ secret }) => secret === undefined))
    return {
      spec,
      proxy: {
        ...Object.fromEntries(sides.map(({ side, address }) => [side, address])),
        ...(noProxy.length > 0 ? { noProxy } : {}),
      },
    };
  notes.push(
    'proxy.credentialSecretRef: the Secret must have what an address has, such as %40 for @, since Kubernetes puts it there as it is',
  );
  const env = sides.flatMap(({ side, address, secret }) =>
    secret === undefined
      ? inBothCases(`${side}_proxy`, address)
      : withPassword(side, address, secret),
  );
  const variables = [
    ...env,
    ...(noProxy.length > 0 ? inBothCases('no_proxy', noProxy.join(',')) : []),
  ];
  return {
    spec: withRunner(spec, (runner) => ({ ...runner, env: added(runner['env'], variables) })),
  };
}

function withPassword(side: string, address: string, secret: string): Mapping[] {
  const part = (key: string) => ({
    name: `${side}_proxy_${key}`,
    valueFrom: { secretKeyRef: { name: secret, key } },
  });
  const login = `$(${side}_proxy_username):$(${side}_proxy_password)`;
  const value = address.replace('://', () => `://${login}@`);
  return [...['username', 'password'].map(part), ...inBothCases(`${side}_proxy`, value)];
}

const inBothCases = (name: string, value: string): Mapping[] =>
  [name, name.toUpperCase()].map((one) => ({ name: one, value }));
