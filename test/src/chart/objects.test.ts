import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { signInFile } from '@paddock/console/sign-in/sign-in-file';
import { hasHooks } from '@paddock/domain/pools/pod-template';
import { deployedManifests } from '@paddock/testing/cluster-rights';
import {
  type ChartObject,
  HELM,
  type Labels,
  podsOf,
  renderChart,
} from '@paddock/testing/render-chart';
import { parse } from 'yaml';
import { EXAMPLES, MATRIX, configOf } from '../scenes/chart-releases.scene.ts';

/** What the chart may make: each is in a namespace. Custom ones come from an operator. */
const KINDS = new Set(
  `ConfigMap Deployment HorizontalPodAutoscaler HTTPRoute Ingress Job NetworkPolicy Pod
  PodDisruptionBudget PodMonitor PrometheusRule Role RoleBinding Secret Service ServiceAccount StatefulSet
  Cluster ExternalSecret`.split(/\s+/),
);

/** A label value, and a name that any kind may have. */
const NAME = /^[a-z]([-a-z0-9.]{0,61}[a-z0-9])?$/;
/** A name that a Service may have. */
const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

const CONTENTS = {
  requests: { cpu: expect.any(String), memory: expect.any(String) },
  limits: { memory: expect.any(String) },
};

/** Where a secret of the configuration comes from. */
interface Source {
  readonly env?: string;
  readonly file?: string;
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly items?: readonly { readonly path: string }[] };
}

/** The configuration file of a release. */
interface Config {
  readonly github: {
    readonly apps: (Record<'webhookSecret' | 'privateKey', Source> & {
      previousWebhookSecret?: Source;
    })[];
  };
  readonly notifications?: { readonly webhook: Source };
  readonly pools: { namespace: string; template: { metadata: { labels: Labels } } }[];
}

const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

const described = HELM === undefined ? describe.skip : describe;

described.each([...EXAMPLES, ...MATRIX])('the objects of %s (needs helm)', (_name, release) => {
  let objects: readonly ChartObject[];
  let config: Config;
  const all = (kind: string): ChartObject[] => objects.filter((object) => object.kind === kind);
  const ofRelease = (): ChartObject[] =>
    objects.filter(({ metadata }) => metadata.namespace === release.namespace);
  beforeAll(() => {
    objects = renderChart(release);
    config = parse(configOf(objects)) as Config;
  });

  test('are in the namespaces of the release and of its pools, by names that any cluster takes (H1)', () => {
    const ofPools = config.pools.map(({ namespace }) => namespace);
    const namespaces = new Set([release.namespace, ...ofPools]);
    expect(objects.filter(({ kind }) => !KINDS.has(kind))).toEqual([]);
    for (const { kind, metadata } of objects) {
      expect(namespaces).toContain(metadata.namespace);
      expect(metadata.name).toMatch(kind === 'Service' ? LABEL : NAME);
      for (const label of Object.values(metadata.labels ?? {})) expect(label).toMatch(/^.{1,63}$/);
    }
    const names = objects.map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`,
    );
    expect(new Set(names).size).toBe(names.length);
  });

  test('run containers without rights, with resources, and with probes of any address if they stay (H2, H3)', () => {
    for (const { owner, spec } of podsOf(objects)) {
      expect(spec).toMatchObject({
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        automountServiceAccountToken: /(scheduler|reconciler)$/.test(owner),
        enableServiceLinks: false,
      });
      for (const container of spec.containers) {
        expect(container).toMatchObject({ securityContext: RESTRICTED, resources: CONTENTS });
        if (!/^(Deployment|StatefulSet)/.test(owner)) continue;
        expect(container).toMatchObject({
          livenessProbe: expect.any(Object),
          readinessProbe: expect.any(Object),
        });
        // The kubelet probes the pod's own address, of IPv4 or IPv6; the services listen on both.
        expect(JSON.stringify(container)).not.toMatch(/PADDOCK_HTTP_HOST|"httpGet":{[^}]*"host"/);
      }
    }
  });

  test('mount whole folders, so that a change reaches the services, and write numbers in full (H5)', () => {
    expect(JSON.stringify(objects)).not.toMatch(/subPath|\d[eE]\+\d/);
  });

  test('mount each file that a variable names, in the pods that have the variable (H1)', () => {
    for (const { owner, spec } of podsOf(objects))
      for (const { env, volumeMounts = [] } of spec.containers) {
        const files = env.flatMap(({ value = '' }) => (value.startsWith('/etc/') ? [value] : []));
        const isMounted = (file: string) =>
          volumeMounts.some(({ mountPath }) => file.startsWith(`${mountPath}/`));
        expect([owner, files.filter((file) => !isMounted(file))]).toEqual([owner, []]);
      }
  });

  test('give a service longer to end than its drain lasts, and time to leave its Service (A10)', () => {
    for (const { owner, spec } of podsOf(all('Deployment'))) {
      const stops = { preStop: { exec: { command: expect.arrayContaining(['node', '--eval']) } } };
      const lifecycle = /-(ingress|console)$/.test(owner) ? stops : undefined;
      expect(spec.containers[0]?.['lifecycle']).toEqual(lifecycle);
      const drain = spec.containers[0]?.env.find(({ name }) => name === 'PADDOCK_DRAIN_MS');
      const seconds = Number(drain?.value ?? 30_000) / 1000;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(seconds + 5);
    }
  });

  const serviceOf = (suffix: string): ChartObject[] =>
    all('Service').filter(({ metadata }) => metadata.name.endsWith(suffix));
  const waysOf = (suffix: string): string[] =>
    [...all('Ingress'), ...all('HTTPRoute')]
      .filter(({ metadata }) => metadata.name.endsWith(suffix))
      .map(({ spec }) => JSON.stringify(spec?.['rules']));

  test('expose the webhook’s port and path alone, and the console beside it (H2)', () => {
    const [webhook, ...others] = serviceOf('-webhook');
    expect(others).toEqual([]);
    const port = { name: 'http', port: expect.any(Number), targetPort: 'webhook' };
    expect(webhook?.spec?.['ports']).toEqual([port]);
    for (const rules of waysOf('-webhook')) {
      expect(rules.match(/"\/[^"]*"/g)).toEqual(['"/webhooks/github"']);
      expect(rules).toContain('"Exact"');
      expect(rules).toContain(webhook?.metadata.name);
    }
    const [page] = serviceOf('-console');
    const ports = page?.spec?.['ports'] as { targetPort: string }[] | undefined;
    expect(ports?.map(({ targetPort }) => targetPort) ?? ['page']).toEqual(['page']);
    for (const rules of waysOf('-console')) expect(rules).toContain(page?.metadata.name);
    expect(waysOf('').length).toBe(waysOf('-webhook').length + waysOf('-console').length);
  });

  test('close the console to runners, and give it neither secrets, a token nor rights (H3)', () => {
    const consoles = podsOf(all('Deployment')).filter(({ owner }) => owner.endsWith('-console'));
    const policies = all('NetworkPolicy').filter(({ spec }) => spec?.['egress'] !== undefined);
    const policy = policies.find(({ metadata }) => metadata.name.endsWith('-console'));
    for (const { spec } of consoles) {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(JSON.stringify(spec)).not.toMatch(/\/etc\/paddock\/(app|webhook)|paddock\.yaml/);
    }
    const files = all('ConfigMap').filter(({ metadata }) => metadata.name.endsWith('-sign-in'));
    const provider = files.map(
      ({ data }) => signInFile.parse(parse(String(Object.values(data ?? {})[0]))).oidc,
    );
    if (policy === undefined) return;
    const { policyTypes, ingress, egress } = policy.spec as {
      policyTypes: string[];
      ingress: { from: { namespaceSelector: { matchExpressions: object[] } }[] }[];
      egress: { ports: { port: number | string }[] }[];
    };
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(ingress).toHaveLength(1);
    expect(ingress[0]?.from[0]?.namespaceSelector.matchExpressions).toEqual([
      {
        key: 'kubernetes.io/metadata.name',
        operator: 'NotIn',
        values: [...new Set(config.pools.map(({ namespace }) => namespace))].toSorted(),
      },
    ]);
    const ports = egress.flatMap((rule) => rule.ports.map(({ port }) => port));
    expect(ports.slice(0, 4)).toEqual([53, 53, 5353, 5353]);
    expect([['postgres'], [5432], [6432]]).toContainEqual([ports[4]]);
    expect(ports.slice(5)).toEqual(provider[0] === undefined ? [] : [443]);
  });

  test('select what is there: each Service and budget one workload, policies some', () => {
    const labels = podsOf(ofRelease()).map((pod) => pod.metadata.labels);
    const selected = (selector: Labels = {}) => labels.filter((one) => selects(selector, one));
    for (const { spec } of all('Service')) expect(selected(spec?.selector)).toHaveLength(1);
    for (const kind of ['PodDisruptionBudget', 'Deployment', 'StatefulSet'])
      for (const { spec } of ofRelease().filter((object) => object.kind === kind))
        expect(selected(spec?.selector?.matchLabels)).toHaveLength(1);
    for (const { spec } of ofRelease().filter(({ kind }) => kind === 'NetworkPolicy'))
      expect(selected(spec?.podSelector?.matchLabels)).not.toEqual([]);
  });

  test('give the services the rights of deploy/kubernetes, in each namespace of runners (H3)', async () => {
    const roles = all('Role');
    const bindings = all('RoleBinding');
    const accounts = all('ServiceAccount').map(({ metadata }) => metadata.name);
    const [hooks] = await deployedManifests('runner-hooks.yaml');
    const hooked = config.pools.filter(({ template }) => hasHooks(template));
    for (const manifest of await deployedManifests('runner-namespace.yaml')) {
      if (manifest.kind !== 'Role') continue;
      const service = manifest.metadata.name.replace('paddock-', '');
      const mine = roles.filter(({ metadata }) => metadata.name.endsWith(`-${service}`));
      for (const role of mine) {
        const { namespace } = role.metadata;
        const hasMore =
          service === 'scheduler' && hooked.some((pool) => pool.namespace === namespace);
        expect(role['rules']).toEqual([
          ...(manifest.rules ?? []),
          ...((hasMore ? hooks?.rules : undefined) ?? []),
        ]);
      }
      for (const { metadata } of mine) {
        const bound = bindings.filter((binding) => binding.metadata.name === metadata.name);
        expect(bound).toContainEqual(
          expect.objectContaining({
            metadata: expect.objectContaining({ namespace: metadata.namespace }),
            roleRef: expect.objectContaining({ kind: 'Role', name: metadata.name }),
            subjects: [
              {
                kind: 'ServiceAccount',
                namespace: release.namespace,
                name: accounts.find((name) => name.endsWith(`-${service}`)),
              },
            ],
          }),
        );
      }
    }
    expect(bindings).toHaveLength(roles.length);
  });

  test('hold runner pods by the label that the configuration gives them (H3)', () => {
    for (const { metadata, spec, kind } of objects) {
      if (metadata.namespace === release.namespace) continue;
      const selector = (spec?.selector ?? spec?.podSelector)?.matchLabels;
      if (kind === 'Role' || kind === 'RoleBinding') continue;
      for (const { template } of config.pools)
        expect(selects(selector ?? {}, template.metadata.labels)).toBe(true);
      expect(Object.keys(selector ?? {})).not.toEqual([]);
    }
  });

  test('give the secrets of `config` to the services that read them alone (H3)', () => {
    const read = config.github.apps.flatMap(({ webhookSecret, privateKey }) => [
      { secret: webhookSecret.env, readers: /-(ingress|test-ping)$/ },
      { secret: privateKey.env, readers: /-(scheduler|reconciler)$/ },
    ]);
    read.push({ secret: config.notifications?.webhook.env, readers: /-reconciler$/ });
    for (const { owner, spec } of podsOf([...all('Deployment'), ...all('Job'), ...all('Pod')])) {
      const names = spec.containers.flatMap(({ env }) => env.map(({ name }) => name));
      const has = names.filter((name) => read.some(({ secret }) => secret === name));
      const may = read.filter(({ readers }) => readers.test(owner)).flatMap(({ secret }) => secret);
      expect([owner, has]).toEqual([owner, may.filter((name) => name !== undefined)]);
    }
  });

  test('mount of a Secret what the service reads alone, also of one Secret for all (H3)', () => {
    const { apps } = config.github;
    const ofIngress = apps.flatMap((app) => [app.webhookSecret, app.previousWebhookSecret]);
    const ofCallers = apps.map(({ privateKey }) => privateKey);
    const signIn = all('ConfigMap').find(({ metadata }) => metadata.name.endsWith('-sign-in'));
    const { oidc } = parse((signIn?.['data'] as Labels | undefined)?.['sign-in.yaml'] ?? '{}') as {
      oidc?: { clientSecret?: Source };
    };
    const readers: [RegExp, (Source | undefined)[]][] = [
      [/-(ingress|test-ping)$/, ofIngress],
      [/-scheduler$/, ofCallers],
      [/-reconciler$/, [...ofCallers, config.notifications?.webhook]],
      [/-console$/, [oidc?.clientSecret]],
    ];
    for (const { owner, spec } of podsOf([...all('Deployment'), ...all('Pod')])) {
      const read = readers.find(([pattern]) => pattern.test(owner))?.[1] ?? [];
      const files = read.flatMap((source) => source?.file ?? []);
      const volumes = (spec['volumes'] ?? []) as Volume[];
      const mounts = spec.containers[0]?.volumeMounts ?? [];
      const mounted = mounts
        .filter(({ mountPath }) => /\/(webhook|app|signIn)$/.test(mountPath))
        .flatMap(({ name, mountPath }) => {
          const items = volumes.find((volume) => volume.name === name)?.secret?.items ?? [];
          expect(items).not.toEqual([]);
          return items.map(({ path }) => `${mountPath}/${path}`);
        });
      expect([owner, mounted]).toEqual([owner, [...new Set(files)].toSorted()]);
    }
  });
});

test('the network policy of runners closes what deploy/kubernetes closes (H3)', async () => {
  // Text against text: the rendered one has the release’s selector.
  const [manifest] = await deployedManifests('runner-network-policy.yaml');
  const template = readFileSync(
    new URL('../../../deploy/helm/paddock/templates/runners.yaml', import.meta.url),
    'utf8',
  );
  const ranges = JSON.stringify(manifest).matchAll(/"([0-9a-f.:]+\/\d+)"/g);
  for (const [, range] of ranges) expect(template).toContain(range);
});
