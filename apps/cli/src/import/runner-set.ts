import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import { apiUrlOf } from '@paddock/github/create-app';

type Mapping = Record<string, unknown>;

/** One document of a file, or why it cannot be read. */
export interface ReadDocument {
  /** The file, and the document's place in it. */
  readonly from: string;
  readonly value?: unknown;
  readonly problem?: string;
}

/** The runners of another controller that belong together, in the words of a pool. */
export interface RunnerSet {
  /** Where it was found: the file, and its kind and name there. */
  readonly from: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The address at GitHub where its runners register. */
  readonly url: string | undefined;
  readonly labels: readonly string[];
  /** Labels at GitHub that no job of github.com asks its scale set for. */
  readonly scaleSetLabels: readonly string[];
  readonly runnerGroup: string | undefined;
  readonly min: number;
  /** When another number is idle, in the words of \`warm\`. */
  readonly times?: readonly Mapping[];
  /** Undefined: no limit. */
  readonly max: number | undefined;
  readonly credentials: Credentials;
  /** Rules of its account in kubernetes mode, if that goes with the old release. */
  readonly accountRules?: readonly unknown[] | undefined;
  /** Keys of the pool that shape its pods. */
  readonly pod: Mapping;
  /** What is not carried over, or needs a person; each names the key. */
  readonly notes: readonly string[];
}

/** Where the old controller has the App's credentials. Never the credentials. */
export interface Credentials {
  readonly secret?: string | undefined;
  readonly appId?: number | undefined;
}

/** Names of digits alone are numbers in YAML. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== ''
    ? value.trim()
    : typeof value === 'number'
      ? String(value)
      : undefined;

/** What Terraform, Helm, Argo CD, Zarf, sops or a person puts in: none is a text of GitHub or Kubernetes. */
const GAP = /\$\{|\{\{|###|^ENC\[|<[\w.:/# -]+>/;

export const hasGap = (text: string): boolean => GAP.test(text);

/** The same, outside of pods: in those `$(…)` is what Kubernetes puts in. */
export const isFilledIn = (text: string): boolean => hasGap(text) || text.includes('$(');

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value) : undefined;

export const said = <T>(mapping: Readonly<Record<string, T | undefined>>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(mapping).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );

/** Labels and annotations are texts; YAML reads some of them as numbers. */
export const marksOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asRecord(value)).flatMap(([key, one]) =>
      ['string', 'number', 'boolean'].includes(typeof one) ? [[key, String(one)]] : [],
    ),
  );

export const textsOf = (value: unknown): string[] =>
  asList(value).flatMap((one) => textOf(one) ?? []);

export function withRunner(spec: Mapping, change: (runner: Mapping) => Mapping): Mapping {
  const containers = asList(spec['containers']).map(asRecord);
  const at = containers.findIndex(({ name }) => name === RUNNER_CONTAINER);
  const changed = said(change(containers[at] ?? { name: RUNNER_CONTAINER }));
  return {
    ...spec,
    containers: at === -1 ? [changed, ...containers] : containers.with(at, changed),
  };
}

/** The list with those of the others whose names it lacks. */
export const added = (list: unknown, others: readonly Mapping[]): unknown[] => {
  const names = new Set(asList(list).map((one) => asRecord(one)['name']));
  return [...asList(list), ...others.filter(({ name }) => !names.has(name))];
};

/** Where the old runners register. */
export interface GitHubScope {
  readonly apiUrl: string;
  readonly login?: string;
  readonly repository?: string;
  readonly enterprise?: string;
}

/** What an address such as https://github.com/acme/shop means; undefined for any other. */
export function githubScope(address: string): GitHubScope | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, pathname } = new URL(address);
  const [first, second, ...more] = pathname.split('/').filter((part) => part !== '');
  const isName = [first, second ?? 'x'].every((part) => part !== undefined && NAME.test(part));
  if (!/^https?:$/.test(protocol) || first === undefined || more.length > 0 || !isName)
    return undefined;
  const apiUrl = apiUrlOf(new URL(address));
  if (first.toLowerCase() === 'enterprises' && second !== undefined)
    return { apiUrl, enterprise: second };
  return { apiUrl, login: first, ...(second === undefined ? {} : { repository: second }) };
}

const NAME = /^[\w.-]+$/;
