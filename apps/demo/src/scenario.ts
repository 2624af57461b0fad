import type { RuleValues } from '@paddock/runtime/rules';
import type { DemoPool } from './prepare-folder.ts';

/** The demo's platform: two organisations and a user, three pools of runners. */

export const ORGANISATION_APP = 100_001;
export const PERSONAL_APP = 100_002;
export const NAMESPACE = 'runners';

export interface Owner {
  login: string;
  type: 'Organization' | 'User';
  appId: number;
  repositories: readonly string[];
}

export const OWNERS: readonly Owner[] = [
  {
    login: 'acme',
    type: 'Organization',
    appId: ORGANISATION_APP,
    repositories: ['shop', 'payments', 'infrastructure'],
  },
  {
    login: 'globex',
    type: 'Organization',
    appId: ORGANISATION_APP,
    repositories: ['firmware', 'website'],
  },
  { login: 'mona', type: 'User', appId: PERSONAL_APP, repositories: ['dotfiles', 'compiler'] },
];

export const pool = (name: string, more: object = {}): DemoPool => ({
  name,
  labels: ['self-hosted', name],
  image: 'ghcr.io/actions/actions-runner:latest',
  namespace: NAMESPACE,
  ...more,
});

/** Label sets overlap as names but not as demand: each job below fits one pool only. */
export const POOLS = [
  pool('linux-x64', { labels: ['self-hosted', 'linux', 'x64'] }),
  pool('linux-arm64', { labels: ['self-hosted', 'linux', 'arm64'] }),
  pool('gpu', {
    labels: ['self-hosted', 'gpu', 'cuda-12'],
    image: 'registry.acme.example/runner-cuda:12',
    maxWorkers: 40,
  }),
];

export const ENTITIES = {
  acme: { maxWorkers: 100 },
  globex: { maxWorkers: 60 },
  mona: { maxWorkers: 40 },
};

/** What the services of one demo are started with. */
export interface Platform {
  readonly appIds: readonly number[];
  /** More Apps, which only the file of ingress names. */
  readonly appsOfIngress: readonly number[];
  readonly pools: readonly DemoPool[];
  readonly entities: Readonly<Record<string, object>>;
  readonly namespaces: readonly string[];
  /** Besides those of every demo. */
  readonly rules: readonly RuleValues[];
}

export const PLATFORM: Platform = {
  appIds: [ORGANISATION_APP, PERSONAL_APP],
  appsOfIngress: [],
  pools: POOLS,
  entities: ENTITIES,
  namespaces: [NAMESPACE],
  rules: [],
};

const LABEL_SETS = [
  ['self-hosted', 'linux', 'x64'],
  ['self-hosted', 'Linux', 'X64'],
  ['x64'],
  ['self-hosted', 'linux', 'arm64'],
  ['gpu'],
];

export interface PlannedJob {
  repo: string;
  labels: readonly string[];
  durationMs: number;
  /** Run once more after it has completed, as a person would. */
  rerun: boolean;
}

/**
 * The jobs of one demo: `count` in all, every tenth of them a re-run of another. Made from numbers
 * alone, so that two runs with the same count have the same jobs.
 */
export function planJobs(count: number): PlannedJob[] {
  const repositories = OWNERS.flatMap(({ login, repositories: names }) =>
    names.map((name) => `${login}/${name}`),
  );
  const reruns = Math.floor(count / 10);
  return Array.from({ length: count - reruns }, (_, index) => ({
    repo: pick(repositories, index * 7 + Math.floor(index / 5)),
    labels: pick(LABEL_SETS, index),
    durationMs: 100 + ((index * 137) % 900),
    rerun: index < reruns,
  }));
}

function pick<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError('there is nothing to pick from');
  return item;
}
