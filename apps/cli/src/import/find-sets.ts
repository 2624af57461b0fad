import { join, resolve } from 'node:path';
import { asList, asRecord, isRecord } from '@paddock/domain/pools/as-record';
import { fromRunnerDeployment, scales } from './from-runner-deployment.ts';
import { fromScaleSet } from './from-scale-set.ts';
import { asValues, fromValues, type Release } from './from-chart-values.ts';
import { merged, withParameters } from './merge-helm-values.ts';
import { fileOf, valueOf, whyUnreadable } from './read-documents.ts';
import { numberOf, type ReadDocument, type RunnerSet, textOf, textsOf } from './runner-set.ts';

type Mapping = Record<string, unknown>;

/** What an object of a document is: a set, or a sentence about it. */
export type Found =
  | { readonly set: RunnerSet }
  | { readonly from: string; readonly refused: string }
  | { readonly from: string; readonly remark: string };

/** Where in a document something stands, and what the wrapping says of a release. */
interface Place extends Release {
  readonly depth: number;
  /** The key of a helmfile that says that the release is not there. */
  readonly off?: string | undefined;
}

const MOST_DEEP = 12;

/** All runner sets of the documents of one import. A set may be in any wrapping. */
export function findSets(
  all: readonly ReadDocument[],
  nameOf: (from: string) => string,
  given: { readonly name?: string | undefined; readonly namespace?: string | undefined },
): Found[] {
  const documents = all.filter(({ problem }) => problem === undefined);
  const objects = documents.flatMap(({ value }) => objectsIn(value));
  const ofReleases = new Set<string>();
  const valuesIn = (path: string): Mapping | undefined => {
    const end = resolve('/', path.replace(/^\$[^/]*\//, ''));
    const [one, another] = documents.filter(({ from }) => resolve(from).endsWith(end));
    if (one === undefined || another !== undefined) return undefined;
    ofReleases.add(one.from);
    return asRecord(one.value);
  };
  const found = documents.map(({ from, value }) => {
    const place = { from, ...given, given: given.name, key: nameOf(from), depth: 0 };
    return caught(from, () => within(value, place, { objects, valuesIn }));
  });
  return all.flatMap((document) => {
    const { from, value, problem } = document;
    if (problem !== undefined) return [{ from, refused: problem }];
    if (ofReleases.has(from)) return [];
    const inIt = found[documents.indexOf(document)] ?? [];
    // Of one release, a state of Pulumi has inputs and outputs; many releases may lack the same.
    const here = [...new Map(inIt.map((one) => [JSON.stringify(one), one])).values()];
    if (here.length > 0) return here;
    const object = asRecord(value);
    const what = textOf(object['kind']);
    if (what !== undefined) return [{ from: placeOf(object, from), remark: NO_SET }];
    // As the first part of a helmfile, which has its environments.
    const isPart = documents.some(
      (other, nth) => found[nth]?.length !== 0 && fileOf(other.from) === fileOf(from),
    );
    return [isPart ? { from, remark: NO_SET } : { from, refused: `${NO_SET}: ${SIGNS}` }];
  });
}

const NO_SET = 'holds no runner set';
const SIGNS =
  'no kind AutoscalingRunnerSet or RunnerDeployment, and no githubConfigUrl or other key of the chart gha-runner-scale-set';

/** The other documents of an import, as far as one of them has use for them. */
interface Others {
  readonly objects: readonly Mapping[];
  /** The values of the only file whose path ends so. It is then no release of its own. */
  readonly valuesIn: (path: string) => Mapping | undefined;
}

/** What was found, up to a text in there that is no YAML, or is nested too deeply. */
function caught(from: string, find: () => Generator<Found>): Found[] {
  const found: Found[] = [];
  try {
    for (const one of find()) found.push(one);
  } catch (error) {
    found.push({ from, refused: whyUnreadable(error) });
  }
  return found;
}

const objectsIn = (value: unknown): Mapping[] =>
  asList(asRecord(value)['items'] ?? [value]).map(asRecord);

function* within(value: unknown, place: Place, others: Others): Generator<Found> {
  if (place.depth > MOST_DEEP) return;
  const down = { ...place, depth: place.depth + 1 };
  if (Array.isArray(value)) {
    for (const one of value) yield* within(one, down, others);
    return;
  }
  if (typeof value === 'string') {
    if (looksLikeValues(value)) yield* within(valueOf(value), down, others);
    return;
  }
  if (!isRecord(value)) return;
  const { kind, apiVersion } = value;
  if (typeof kind === 'string' && (typeof apiVersion === 'string' || OF_SETS.test(kind))) {
    yield* caught(placeOf(value, place.from), () => ofKind(kind, value, down, others));
    return;
  }
  if (isRecord(value['matcherConfig'])) {
    yield { set: fromMatchers(value, place) };
    return;
  }
  const values = asValues(value);
  if (values !== undefined) {
    // The condition of an umbrella chart.
    const off = value['enabled'] === false ? 'enabled' : place.off;
    if (off !== undefined)
      yield {
        from: `${place.from}: ${place.name ?? place.key}`,
        remark: `is switched off there by \`${off}: false\`: it becomes no pool`,
      };
    else yield { set: fromValues(values, place) };
    return;
  }
  // In kustomize, the name is that of the chart. In Zarf, its address has it.
  const [called, repo] = [textOf(value['name']), textOf(value['repo'])];
  const own = asRecord(value['chart'])['name'] ?? value['chart'] ?? value['url'];
  const isOfKustomize = own === undefined && repo !== undefined;
  const chart = isOfKustomize ? `${repo}/${called ?? ''}` : own;
  const release = {
    ...down,
    name:
      textOf(value['releaseName']) ??
      textOf(value['release_name']) ??
      (isOfKustomize ? undefined : called) ??
      place.name,
    namespace: textOf(value['namespace']) ?? textOf(value['release_namespace']) ?? place.namespace,
    off: value['installed'] === false ? 'installed' : place.off,
  };
  const found =
    typeof chart === 'string' ? [...ofRelease({ ...value, chart }, release, others)] : [];
  yield* found;
  if (asList(value['inherit']).length > 0)
    yield {
      from: `${place.from}: ${called ?? place.key}`,
      remark: 'inherit: its template is not read here: import what `helmfile template` makes of it',
    };
  if (found.length > 0) return;
  // Holders of anchors, as in the configuration file, and templates of a helmfile are no releases.
  for (const [key, one] of Object.entries(value).filter(([name]) => !/^x-|^templates$/.test(name)))
    yield* within(one, { ...release, key: WRAPPINGS.has(key) ? place.key : key }, others);
}

/** Kinds that people also write without the version. */
const OF_SETS = /^(?:AutoscalingRunnerSet|RunnerDeployment|RunnerSet|HorizontalRunnerAutoscaler)$/;

/** Keys under which the values of a release stand, which do not name it. */
const WRAPPINGS = new Set('values valuesInline helm spec releases gha-runner-scale-set'.split(' '));

/** A text within a file that is a file of values itself. */
const looksLikeValues = (text: string): boolean =>
  /^(?:githubConfig(?:Url|Secret)|(?:min|max)Runners|runnerScaleSetName|scaleset):/m.test(text);

function* ofKind(kind: string, object: Mapping, place: Place, others: Others): Generator<Found> {
  const spec = asRecord(object['spec']);
  const from = placeOf(object, place.from);
  const metadata = asRecord(object['metadata']);
  const here = { ...place, from };
  const scaled = textOf(asRecord(spec['scaleTargetRef'])['name']) ?? 'the set without a name';
  switch (kind) {
    case 'AutoscalingRunnerSet':
      yield { set: fromScaleSet(object, from) };
      return;
    case 'RunnerDeployment':
    case 'RunnerSet':
    case 'Runner':
      // One that a RunnerDeployment has made comes with it.
      if (asList(metadata['ownerReferences']).length > 0) return;
      yield { set: fromRunnerDeployment(object, from, others.objects) };
      return;
    case 'HorizontalRunnerAutoscaler':
      yield {
        from,
        remark: others.objects.some((one) => scales(object, one))
          ? `gives its numbers to ${scaled}`
          : `scaleTargetRef: its numbers are left out, since no FILE has ${scaled}: import it as well`,
      };
      return;
    case 'RunnerReplicaSet':
    case 'EphemeralRunner':
    case 'EphemeralRunnerSet':
    case 'AutoscalingListener':
      yield { from, remark: 'is made by another object: that one is imported' };
      return;
    case 'HelmRelease': {
      const target = textOf(spec['targetNamespace']);
      const name = textOf(metadata['name']);
      const release = textOf(spec['releaseName']) ?? (target && name ? `${target}-${name}` : name);
      const namespace = target ?? textOf(metadata['namespace']);
      const elsewhere = asList(spec['valuesFrom']).map(asRecord);
      // One value of a Secret is a gap: what needs it says so.
      const gaps = elsewhere.map(({ targetPath, kind: source, name: of, valuesKey }) => ({
        name: targetPath,
        value: `\${${String(source)} ${String(of)}: ${String(valuesKey)}}`,
      }));
      const values = withParameters(asRecord(spec['values']), gaps);
      yield* within(values, { ...here, name: release, namespace }, others);
      for (const { targetPath, kind: source, name: of } of elsewhere)
        if (targetPath === undefined)
          yield {
            from,
            remark: `spec.valuesFrom: values of ${String(source)} ${String(of)} are not read here: \`helm get values\` has all of them`,
          };
      return;
    }
    case 'Application':
      yield* ofApplication(object, here, others);
      return;
    case 'ApplicationSet':
      yield* ofApplication(asRecord(spec['template']), here, others);
      return;
    case 'ConfigMap':
      yield* within(object['data'], here, others);
      return;
    default:
      if (kind.endsWith('List') || object['items'] !== undefined)
        for (const item of asList(object['items'])) {
          const found = [...within(item, place, others)];
          yield* found;
          if (found.length === 0)
            yield { from: placeOf(asRecord(item), place.from), remark: NO_SET };
        }
      // Other programs' releases, as HelmChart of k3s, and nothing of Kubernetes but kustomize.
      else if (
        /^(?:kustomize\.config|(?!.*\.k8s\.io\/).*)\..*\//.test(String(object['apiVersion']))
      ) {
        const { kind: _kind, apiVersion: _version, metadata: _metadata, ...rest } = object;
        const name = textOf(metadata['name']);
        const namespace = textOf(spec['targetNamespace']) ?? textOf(metadata['namespace']);
        yield* within(rest, { ...here, name, namespace }, others);
      }
  }
}

/** An Application of Argo CD: of each source its values, which the parameters change. */
function* ofApplication(object: Mapping, place: Place, others: Others): Generator<Found> {
  const { source, sources, destination } = asRecord(object['spec']);
  for (const { helm, repoURL, path, ...own } of [source, ...asList(sources)].map(asRecord)) {
    const { chart = textOf(repoURL)?.startsWith('oci:') === true ? repoURL : undefined } = own;
    const { releaseName, valueFiles, ...given } = asRecord(helm);
    const release = {
      ...place,
      name: textOf(releaseName) ?? textOf(asRecord(object['metadata'])['name']),
      namespace: textOf(asRecord(destination)['namespace']),
    };
    const files = textsOf(valueFiles).map((file) =>
      file.startsWith('$') ? file : join(textOf(path) ?? '', file),
    );
    yield* ofRelease({ ...given, chart, valuesFiles: files }, release, others);
  }
}

const isOfSets = (chart: unknown): boolean =>
  /gha-runner-scale-set(?!-controller)/.test(textOf(chart) ?? '');

/** A chart of the same repository may have that of the sets as a part. */
const isOwn = (chart: unknown): boolean => /^$|^[./]|\$/.test(textOf(chart) ?? '');

/** Where releases of other programs have their values, files among them; the later hold. */
const LAYERS = ['valuesFile', 'valuesFiles', 'values', 'valuesObject', 'valuesInline'];

/** Not the path of a file. */
const TEXT = /\n|^\s*(?:[\w."'-]+:(?:\s|$)|\{(?!\{))/;

function* ofRelease(release: Mapping, place: Place, others: Others): Generator<Found> {
  const missing: string[] = [];
  const layers = LAYERS.flatMap((key) => release[key] || []).map((one) => {
    if (typeof one !== 'string') return asRecord(one);
    if (TEXT.test(one)) return asRecord(valueOf(one));
    const values = others.valuesIn(one);
    if (values === undefined) missing.push(one);
    return values ?? {};
  });
  const changes = ['parameters', 'set'].flatMap((key) => asList(release[key])).map(asRecord);
  const found = [...within(withParameters(layers.reduce(merged, {}), changes), place, others)];
  yield* found;
  const { from } = place;
  for (const file of missing)
    if (found.length === 0 && isOfSets(release['chart']))
      yield { from, refused: `valueFiles: its values are in ${file}: import that file` };
    else if (found.length > 0 || isOwn(release['chart']))
      yield { from, remark: `valueFiles: ${file} is not read here: import it as well` };
}

function placeOf(object: Mapping, file: string): string {
  const { name, namespace } = asRecord(object['metadata']);
  const path = [namespace, name].filter((part) => typeof part === 'string').join('/');
  return `${file}: ${String(object['kind'])} ${path}`.trimEnd();
}

/** Runners on machines that serve jobs by lists of labels, of terraform-aws-github-runner. */
function fromMatchers(value: Mapping, place: Place): RunnerSet {
  const { labelMatchers, exactMatch } = asRecord(value['matcherConfig']);
  const runner = asRecord(value['runner_config']);
  const lists = asList(labelMatchers).map(textsOf);
  const name = textOf(value['name']) ?? place.name ?? place.key;
  const most = numberOf(runner['runners_maximum_count']);
  const notes = [
    ...(exactMatch === true
      ? []
      : [
          'matcherConfig.exactMatch: is false there, where one common label was enough; here a pool serves jobs that ask for no other labels, as GitHub does',
        ]),
    ...(lists.length > 1
      ? ['matcherConfig.labelMatchers: has several lists; the pool has the labels of all of them']
      : []),
    'runner_config: describes machines: resources, nodeSelector and template say what the pods need',
  ];
  return {
    from: `${place.from}: ${name}`,
    name,
    namespace: undefined,
    url: undefined,
    labels: [...new Set(lists.flat())],
    scaleSetLabels: [],
    runnerGroup: textOf(runner['runner_group_name']),
    min: 0,
    max: most === -1 ? undefined : most,
    credentials: {},
    pod: {},
    notes,
  };
}
